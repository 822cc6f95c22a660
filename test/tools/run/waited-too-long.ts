/** What a test waits for has not come within its generous limit. `npm test` runs such a file once more by itself. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong';
}
