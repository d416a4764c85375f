"""Computes with NumPy what examples/terrain.c prints: make_terrain.py ELEVATION.npy > terrain.txt."""
import sys

import numpy as np

DX, DY = 74.4, 92.7
AZIMUTH, ALTITUDE = np.deg2rad(315.0), np.deg2rad(45.0)


def print_range(label, x, unit):
    for name, value, width in (('min', x.min(), 20), ('max', x.max(), 20), ('mean', x.mean(), 19)):
        print(f'{label:10s} {name} {value:{width}.4f} {unit}')


def print_row(label, number, mean_label, value, unit, width, mean_width):
    print(f'{"row":10s} {label} {number:{width}d} th')
    print(f'{"row":10s} {mean_label} {value:{mean_width}.4f} {unit}')


def main(path):
    z = np.load(path).astype(np.float64)
    inside = z[1:-1, 1:-1]
    gx = (z[1:-1, 2:] - z[1:-1, :-2]) / (2 * DX)
    gy = (z[:-2, 1:-1] - z[2:, 1:-1]) / (2 * DY)
    slope = np.rad2deg(np.arctan(np.hypot(gx, gy)))
    aspect = np.rad2deg(np.arctan2(-gx, -gy)) % 360
    east = np.sin(AZIMUTH) * np.cos(ALTITUDE)
    north = np.cos(AZIMUTH) * np.cos(ALTITUDE)
    light = (np.sin(ALTITUDE) - east * gx - north * gy) / np.sqrt(1 + gx**2 + gy**2)
    shade = np.maximum(light, 0)

    print_range('elevation', inside, 'm')
    print_range('slope', slope, 'deg')
    print_range('hillshade', shade, 'of 1')
    southern = (aspect > 135) & (aspect < 225) & (slope > 0)
    print(f'{"aspect":10s} southern {southern.sum():15d} cells')
    heights, slopes, spread = inside.mean(axis=1), slope.mean(axis=1), inside.std(axis=1, ddof=1)
    print_row('highest', heights.argmax(), 'its mean', heights.max(), 'm', 16, 15)
    print_row('steepest', slopes.argmax(), 'its slope', slopes.max(), 'deg', 15, 14)
    print_row('roughest', spread.argmax(), 'its deviation', spread.max(), 'm', 15, 10)
    for low in range(0, 40, 5):
        cells = ((slope >= low) & (slope < low + 5)).sum()
        print(f'slope {low:3d} to {low + 5:<2d} deg {cells:14d} cells')


main(*sys.argv[1:])
