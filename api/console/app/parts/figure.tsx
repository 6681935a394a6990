/** One number with its name, within a list of them. */
export function Figure({ name, value }: { name: string; value: number | string }) {
  return (
    <div class="card">
      <dt class="quiet">{name}</dt>
      <dd class="big">{value}</dd>
    </div>
  );
}
