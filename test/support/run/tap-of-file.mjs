/** The `tap` of one of several test files in a process: the subtest of the file (together.ts). */
const number = Number(new URL(import.meta.url).searchParams.get('together'));

export default globalThis[Symbol.for('longhand.together')][number];
