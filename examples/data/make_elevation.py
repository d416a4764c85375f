"""Makes elevation.npy from the Jacksboro fault elevation model: make_elevation.py MATPLOTLIB.whl OUT.npy."""
import io
import sys
import zipfile

import numpy as np

MEMBER = 'matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz'


def main(wheel, out):
    with zipfile.ZipFile(wheel) as archive:
        model = np.load(io.BytesIO(archive.read(MEMBER)))
    elevation = np.ascontiguousarray(model['elevation'], dtype='<i2')
    latitude = np.deg2rad((model['ymin'] + model['ymax']) / 2)
    metres_per_degree = 111200.0
    print('shape', elevation.shape, 'metres', elevation.min(), 'to', elevation.max())
    print('dx %.1f m' % (float(model['dx']) * metres_per_degree * np.cos(latitude)))
    print('dy %.1f m' % (float(model['dy']) * metres_per_degree))
    np.save(out, elevation)


main(*sys.argv[1:])
