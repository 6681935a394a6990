/** The code of the ApiError that `read` throws, or 'accepted'. */
export function refusal(read: () => unknown): string {
  try {
    read();
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}
