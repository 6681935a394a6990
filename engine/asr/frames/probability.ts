/** The largest of the values [from, to): its index from `from`. */
export function likeliestOf(values: Float32Array, from: number, to: number): number {
  let best = from;
  for (let i = from + 1; i < to; i++) if (values[i]! > values[best]!) best = i;
  return best - from;
}

/** Log-probability of one of the values [from, to), which may be unnormalised. */
export function logProbOf(values: Float32Array, from: number, to: number, chosen: number): number {
  const most = values[from + likeliestOf(values, from, to)]!;
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.exp(values[i]! - most);
  return values[from + chosen]! - most - Math.log(sum);
}
