"""examples/kmeans.c in NumPy: prints the same."""
import numpy as np

POINTS, CLUSTERS, ROUNDS = 1000, 3, 50

seed = np.arange(POINTS)
radius, turn = 4 * np.sqrt(seed / POINTS), 2.399963 * seed
cloud = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=-1)
p = (np.array([[-4, 0], [3, 3], [2, -5]])[:, None] + cloud).reshape(-1, 2)
moved, move, rounds = p[:CLUSTERS], 1, 0
while rounds < ROUNDS and move > 1e-9:
    c = moved
    nearest = ((p[:, None] - c)**2).sum(2).argmin(1)
    total = np.zeros((CLUSTERS, 2))
    np.add.at(total, nearest, p)
    count = np.bincount(nearest, minlength=CLUSTERS)
    moved = total / np.maximum(count, 1)[:, None]
    move = abs(moved - c).max()
    rounds += 1
print(f'{rounds} rounds')
for (x, y), k in zip(moved, count):
    print(f'{k:4d} points around {x:9.6f} {y:9.6f}')
