"""examples/image_pipeline.c in NumPy: prints the same."""
import numpy as np

N = 64

picture = np.zeros((N, N), np.int32)
picture[16:48, 16:48] = 200
p = np.pad(picture, 1, mode='reflect')
dx, dy = p[:, 2:] - p[:, :-2], p[2:] - p[:-2]
edges = (abs(dx[:-2] + 2 * dx[1:-1] + dx[2:])
         + abs(dy[:, :-2] + 2 * dy[:, 1:-1] + dy[:, 2:]))
mask = edges > 400
at = np.nonzero(mask)
strongest = edges[mask]
rows = np.zeros(N, np.int64)
np.add.at(rows, at[0], 1)
framed = np.where(mask, 255, picture)
print(f'{len(strongest)} pixels of the edge, the strongest {strongest.max()}, {rows[16]} of them in row 16;'
      f' sums {edges.sum()} and {framed.sum()}')
