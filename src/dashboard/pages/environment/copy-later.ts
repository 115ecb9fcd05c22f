/**
 * Copies a text that is still to be read. Browsers allow it only in answer to a click: the clipboard gets the promise.
 *
 * @throws what the reading throws, and an error if the browser refuses
 */
export async function copyLater(read: () => Promise<string>): Promise<void> {
  const text = read();
  // Without https there is no clipboard.
  if (!('clipboard' in navigator)) throw new Error('there is no clipboard');
  const blob = text.then((found) => new Blob([found], { type: 'text/plain' }));
  const write = navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
  // Why the reading failed says more than that the browser got nothing.
  await text;
  await write;
}
