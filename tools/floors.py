"""Makes, for each floor, an include tree that holds only the floors up to it.

floors.py SOURCE TREE FLOOR...   (floors from the lowest up)
TREE/<floor>/<other> is a relative link to SOURCE/<other> for <floor> itself and every floor below it.
"""
import os
import sys

source, tree, floors = sys.argv[1], sys.argv[2], sys.argv[3:]
for number, floor in enumerate(floors):
    os.makedirs(os.path.join(tree, floor), exist_ok=True)
    for seen in floors[: number + 1]:
        link = os.path.join(tree, floor, seen)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(os.path.relpath(os.path.join(source, seen), os.path.join(tree, floor)), link)
