/** Content of one page of the list, and its latency. */
export interface Page {
  total: number;
  ms: number;
}

/** Requests a page of `GET /v1/transcriptions`. Throws on any response but 200. */
export async function askList(url: string, key: string, query: string): Promise<Page> {
  const start = performance.now();
  const answer = await fetch(`${url}/v1/transcriptions?${query}`, { headers: { authorization: `Bearer ${key}` } });
  const page = (await answer.json()) as { total: number };
  if (answer.status !== 200) throw new Error(`Cannot measure ${query}: the response is ${answer.status}`);
  return { total: page.total, ms: performance.now() - start };
}
