"""Makes the include tree of one floor: floors.py SOURCE TREE FOLDER...

TREE/FOLDER/x.h links to SOURCE/FOLDER/x.h for each header of each folder, and nothing else is there: a file of the
floor that includes a header of another folder does not compile.
"""
import os
import shutil
import sys

source, tree, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
shutil.rmtree(tree, ignore_errors=True)
for folder in folders:
    there = os.path.join(tree, folder)
    os.makedirs(there, exist_ok=True)
    for name in os.listdir(os.path.join(source, folder)):
        if name.endswith(".h"):
            os.symlink(os.path.relpath(os.path.join(source, folder, name), there), os.path.join(there, name))
