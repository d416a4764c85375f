"""Fetches what a build needs of the CUDA toolkit from PyPI's wheels: fetch_cuda.py [--version V] [--nvcc] FOLDER.

FOLDER becomes a small toolkit: include/, lib/ and, with --nvcc, bin/ and nvvm/. The versions are pinned. V is one of
them, or "auto": the newest that this machine's driver runs. Nothing is fetched if FOLDER already has it.
The last line of the output is the version.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

# By version: the wheels of the library, and more for kernels that are compiled ahead of time. Before 13.0 no wheel
# has nvcc, before 12.9 none the static runtime library: older ones serve to prove that the sources compile.
WHEELS = {
    "13.0": (["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-crt==13.0.88",
              "nvidia-nvtx==13.0.85"],
             ["nvidia-cuda-nvcc==13.0.88", "nvidia-nvvm==13.0.88", "nvidia-cuda-cccl==13.0.85"]),
    "12.9": (["nvidia-cuda-runtime-cu12==12.9.79", "nvidia-cuda-nvrtc-cu12==12.9.86",
              "nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-nvtx-cu12==12.9.79"], []),
    "12.8": (["nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cuda-nvcc-cu12==12.8.93"], []),
    "12.6": (["nvidia-cuda-runtime-cu12==12.6.77", "nvidia-cuda-nvcc-cu12==12.6.85"], []),
    "12.4": (["nvidia-cuda-runtime-cu12==12.4.127", "nvidia-cuda-nvcc-cu12==12.4.131"], []),
}
NEWEST, OLDER = "13.0", "12.9"
DRIVER_OF_NEWEST = 580  # the first driver that runs CUDA 13


def version_for_driver():
    """The newest version that the driver runs; the newest of all without a driver."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
    except OSError:
        return NEWEST
    driver = re.search(r"\s(\d+)\.\d+", text)
    return OLDER if driver and int(driver[1]) < DRIVER_OF_NEWEST else NEWEST


def pip_of(folder):
    """A command that runs pip: this Python's, or that of an environment in the folder."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], capture_output=True, check=False).returncode == 0:
        return own
    venv.create(folder, with_pip=True)
    return [str(folder / "bin" / "python"), "-m", "pip"]


def fetch(wheels, target):
    """Unpacks the wheels and merges their trees, which are nvidia/cu13 or one for each wheel, into the target."""
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        work = Path(name)
        subprocess.run([*pip_of(work / "python"), "install", "--quiet", "--disable-pip-version-check",
                        "--root-user-action=ignore", "--no-deps", "--only-binary=:all:",
                        "--target", str(work / "wheels"), *wheels], check=True)
        whole = work / "toolkit"
        for tree in sorted((work / "wheels" / "nvidia").iterdir()):
            if tree.is_dir() and tree.name != "__pycache__":
                shutil.copytree(tree, whole, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*__*", "*.alt.so*"))
        (whole / "wheels.txt").write_text("\n".join(wheels) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        whole.rename(target)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", default="auto", choices=["auto", *WHEELS])
    parser.add_argument("--nvcc", action="store_true")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    version = version_for_driver() if arguments.version == "auto" else arguments.version
    library, compiler = WHEELS[version]
    wheels = library + (compiler if arguments.nvcc else [])
    there = arguments.folder / "wheels.txt"
    if not there.exists() or not set(wheels) <= set(there.read_text(encoding="utf-8").split()):
        arguments.folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            fetch(wheels, arguments.folder.resolve())
        except (subprocess.CalledProcessError, OSError) as error:
            sys.exit(f"fetch_cuda: {' '.join(wheels)} cannot be fetched: {error}")
    print(version)


main()
