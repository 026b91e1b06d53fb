/**
 * Items of a log in order, a page at a time: a list that ends at a page's limit looks like the whole log.
 *
 * @param read at most so many from this `seq` on; fewer only at the end
 */
export async function readPages<Item extends { readonly seq: number }>(
  read: (fromSeq: number, limit: number) => Promise<readonly Item[]>,
  fromSeq: number,
  limit: number,
  pageItems: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let from = fromSeq; items.length < limit;) {
    const wanted = Math.min(limit - items.length, pageItems);
    const page = await read(from, wanted);
    for (const item of page) items.push(item);
    const last = page.at(-1);
    if (!last || page.length < wanted) break;
    from = last.seq + 1;
  }
  return items;
}
