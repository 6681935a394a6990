/** The parts of a uWebSockets response that are used. Using it after an abort or its end throws: see `Life` in response.ts. */
export interface RawResponse {
  pause(): unknown;
  resume(): unknown;
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): unknown;
  onAborted(handler: () => void): unknown;
  onWritable(handler: (offset: number) => boolean): unknown;
  cork(work: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string | Uint8Array): unknown;
  write(chunk: Uint8Array): boolean;
  /** Whether the chunk was accepted as a whole, and whether the response is complete. */
  tryEnd(chunk: Uint8Array, totalBytes: number): [accepted: boolean, done: boolean];
  end(body?: Uint8Array, close?: boolean): unknown;
  endWithoutBody(length?: number, close?: boolean): unknown;
  close(): unknown;
  getRemoteAddressAsText(): ArrayBuffer;
}
