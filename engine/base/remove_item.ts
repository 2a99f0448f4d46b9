/** Lists in no order, of which items come and go. A `Set` would do, but for what `number_map.ts` says of tables. */

/** Removes an item, and moves the last one to its place. Answers whether it was there. */
export function removeItem<Item>(list: Item[], item: Item): boolean {
  const at = list.lastIndexOf(item);
  if (at < 0) return false;
  const last = list.pop() as Item;
  if (at < list.length) list[at] = last;
  return true;
}
