/** Appends items to an array one by one: a call has room for some tens of thousands of arguments only. */
export function appendAll<Item>(array: Item[], items: Iterable<Item>): void {
  for (const item of items) array.push(item);
}
