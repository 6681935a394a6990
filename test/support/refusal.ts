/** The code of the ApiError with which `read` refuses, or 'accepted'. */
export function refusal(read: () => unknown): string {
  try {
    read();
    return 'accepted';
  } catch (error) {
    return (error as { code: string }).code;
  }
}
