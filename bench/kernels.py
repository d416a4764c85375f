#!/usr/bin/env python3
"""Lists what each kernel variant takes of a multiprocessor: kernels.py QUARRY-KERNELS > TABLE.md, without a GPU.

Registers, stack (spills would be there) and shared memory are read from the machine code for sm_90; bytes in flight
are those that a thread's loads bring before it uses the first, times the threads that fit a multiprocessor.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

REGISTERS, THREADS, SHARED, BLOCKS = 65536, 2048, 227 << 10, 32    # of a multiprocessor of compute capability 9.0
REGISTERS_ATTRIBUTE, STACK_ATTRIBUTE = 0x2f, 0x11                  # EIATTR_REGCOUNT, EIATTR_FRAME_SIZE


def sections(cubin):
    """Name to (header, bytes) of each section."""
    start, = struct.unpack_from('<Q', cubin, 0x28)
    size, count, names = struct.unpack_from('<HHH', cubin, 0x3a)
    headers = [struct.unpack_from('<IIQQQQIIQQ', cubin, start + i * size) for i in range(count)]
    texts = cubin[headers[names][4]:]
    return {texts[h[0]:texts.index(b'\0', h[0])].decode(): (h, b'' if h[1] == 8 else cubin[h[4]:h[4] + h[5]])
            for h in headers}


def most_of(attribute_wanted, info):
    """The largest value of an attribute that each function of the code has."""
    at, most = 0, 0
    while at + 4 <= len(info):
        form, attribute, value = struct.unpack_from('<BBH', info, at)
        if form == 4 and attribute == attribute_wanted and value >= 8:
            most = max(most, struct.unpack_from('<I', info, at + 8)[0])
        at += 4 + (value if form == 4 else 0)
    return most


def resources(cubin):
    """Registers of a thread, its stack, and shared bytes of a block."""
    all_sections = sections(cubin)
    text = next(name for name in all_sections if name.startswith('.text.'))
    shared = all_sections.get('.nv.shared.' + text[6:])
    info = all_sections['.nv.info'][1]
    return (most_of(REGISTERS_ATTRIBUTE, info), most_of(STACK_ATTRIBUTE, info), shared[0][5] if shared else 0)


def constant(source, name):
    found = re.search(rf'\b{name} = (\d+)', source)
    return int(found.group(1)) if found else None


def thread_bytes(source):
    """Bytes that a thread's loads bring together."""
    sizes = {k: int(size) for k, size in re.findall(r'static_assert\(sizeof\(ga_m(\d+)\) == (\d+)', source)}
    loads = {number: (index, int(width)) for number, index, width in
             re.findall(r'ga_r(\d+)(?:\[(ga_\w)\])? =\s+ga::load<(\d+)>', source)}
    tile, lanes = constant(source, 'ga_tile'), constant(source, 'ga_lanes')
    steps = tile * tile // lanes // block_of(source) if tile else None
    repeats = {'ga_s': steps, 'ga_u': constant(source, 'ga_unroll') or constant(source, 'ga_rows') or 1}
    return sum(sizes[k] * width * (repeats.get(index) or 1) for k, (index, width) in loads.items())


def block_of(source):
    return int(re.search(r'__launch_bounds__\((\d+)', source).group(1))


def row(path):
    source = path.read_text()
    registers, stack, shared = resources(path.with_suffix('.cubin').read_bytes())
    block = block_of(source)
    rounded = -(-registers // 8) * 8 * 32
    blocks = min(REGISTERS // rounded * 32 // block, THREADS // block, BLOCKS,
                 SHARED // (shared + 1024) if shared else BLOCKS)
    loaded = thread_bytes(source)
    flight = f'{loaded * block * blocks >> 10}' if loaded else '—'
    return (f"| {path.stem[3:].replace('|', '/')} | {block} | {registers} | {stack} | {shared} | "
            f'{100 * blocks * block // THREADS} % | {loaded} | {flight} |')


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL)
        print('| kernel | threads | registers | stack | shared | occupancy | bytes a thread | KiB in flight |')
        print('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
        for path in sorted(pathlib.Path(folder).glob('*.cu')):
            print(row(path))


if __name__ == '__main__':
    main()
