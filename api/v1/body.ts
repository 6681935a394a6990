import type { Context } from '../http/route.ts';

/** Reads the JSON body now, so that no transaction waits for it; its errors are thrown when the result is called, after the 404. */
export async function judgedLater(context: Context): Promise<() => unknown> {
  try {
    const value = await context.json();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
