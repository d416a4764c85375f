"""Times products of random shapes by Quarry and by PyTorch, if it can be imported.

products.py QUARRY_PRODUCTS [--out FILE] [options of quarry-products]
writes the CSV of quarry-products with PyTorch's times and the ratio of both, and prints how many shapes are more than
5 % behind PyTorch, the worst of them first. QUARRY_DEVICE=cpu takes both to the host."""
import argparse
import csv
import io
import os
import pathlib
import statistics
import subprocess
import time

ROUNDS, BATCH_US, BEHIND, WORST = 7, 1000, 1.05, 20


class Torch:
    """ga_matmul(a, b, .out = c) in PyTorch's words, timed as quarry-products does: batches between two events."""

    def __init__(self, on_cpu):
        import torch
        self.torch = torch
        self.place = 'cuda' if torch.cuda.is_available() and not on_cpu else 'cpu'
        torch.set_grad_enabled(False)
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False

    def operand(self, dtype, places, rows, columns, turned):
        dtype = 'float32' if dtype == 'tf32' else dtype
        lengths = (places, columns, rows) if turned else (places, rows, columns)
        x = (self.torch.rand(lengths, device=self.place) * 2 - 1).to(getattr(self.torch, dtype))
        return x.transpose(1, 2) if turned else x

    def batch_us(self, run, calls):
        if self.place == 'cpu':
            start = time.perf_counter()
            for _ in range(calls):
                run()
            return (time.perf_counter() - start) * 1e6 / calls
        before, after = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        for _ in range(calls):
            run()
        after.record()
        after.synchronize()
        return before.elapsed_time(after) * 1e3 / calls

    def time_us(self, dtype, places, m, n, k, a_turned, b_turned):
        self.torch.backends.cuda.matmul.allow_tf32 = dtype == 'tf32'
        a = self.operand(dtype, places, m, k, a_turned)
        b = self.operand(dtype, places, k, n, b_turned)
        if places == 1:  # as a program would write it
            a, b = a[0], b[0]
        out = self.torch.matmul(a, b)

        def run():
            self.torch.matmul(a, b, out=out)
        self.batch_us(run, 1)
        once = self.batch_us(run, 1)
        calls = int(BATCH_US / (once + 1)) + 1 if once < BATCH_US else 1
        return statistics.median(self.batch_us(run, calls) for _ in range(ROUNDS))


def add_torch(rows, on_cpu):
    try:
        torch = Torch(on_cpu)
    except ImportError as why:
        print(f'without PyTorch: {why}')
        return
    for row in rows:
        numbers = [int(row[name]) for name in ('places', 'm', 'n', 'k', 'a_turned', 'b_turned')]
        try:
            us = torch.time_us(row['dtype'], *numbers)
        except RuntimeError as why:  # of dtypes without a product, or memory
            print(f"PyTorch: {row['dtype']} {numbers}: {str(why).splitlines()[0]}")
            continue
        row['torch_us'], row['ratio'] = f'{us:.2f}', f"{float(row['us']) / us:.4g}"


def report(rows):
    """How many are behind, for each dtype, and the worst ones."""
    for dtype in dict.fromkeys(row['dtype'] for row in rows):
        ratios = [float(row['ratio']) for row in rows if row['dtype'] == dtype and row.get('ratio')]
        if ratios:
            yield (f'{dtype}: {sum(r > BEHIND for r in ratios)} of {len(ratios)} more than 5 % behind PyTorch, the '
                   f'geometric mean of the ratios is {statistics.geometric_mean(ratios):.3f}')
    behind = [row for row in rows if float(row.get('ratio') or 0) > BEHIND]
    for row in sorted(behind, key=lambda row: -float(row['ratio']))[:WORST]:
        yield '  ' + ', '.join(f'{name} {value}' for name, value in row.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('program')
    parser.add_argument('--out')
    options, rest = parser.parse_known_args()
    on_cpu = os.environ.get('QUARRY_DEVICE') == 'cpu'
    done = subprocess.run([options.program, *rest], stdout=subprocess.PIPE, text=True, check=True)
    title, _, table = done.stdout.partition('\n')
    rows = list(csv.DictReader(io.StringIO(table)))
    print(title.lstrip('# '))
    add_torch(rows, on_cpu)
    text = io.StringIO()
    writer = csv.DictWriter(text, [*table.splitlines()[0].split(','), 'torch_us', 'ratio'], lineterminator='\n')
    writer.writeheader()
    writer.writerows(rows)
    if options.out:
        pathlib.Path(options.out).write_text(title + '\n' + text.getvalue())
    else:
        print(text.getvalue(), end='')
    for line in report(rows):
        print(line)


if __name__ == '__main__':
    main()
