"""examples/group_sums.c in NumPy: prints the same."""
import numpy as np

SALES, SHOPS = 1000, 6

sale = np.arange(SALES)
shop = sale * 7919 % SHOPS
amount = sale % 97 + 1.0
total, count, best = np.zeros(SHOPS), np.zeros(SHOPS, int), np.zeros(SHOPS)
np.add.at(total, shop, amount)
np.add.at(count, shop, 1)
np.maximum.at(best, shop, amount)
for k in range(SHOPS):
    print(f'shop {k}: {count[k]:3d} sales, sum {total[k]:6.0f}, best {best[k]:3.0f}')
above = (amount > (total / count)[shop]).sum()
print(f'{above} sales above their mean')
