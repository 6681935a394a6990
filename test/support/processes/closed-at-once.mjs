/** Closes the terminal of a part, with SIGHUP, in the moment in which it says that it is ready: `NODE_OPTIONS=--import=…`. */
import '../typescript.mjs';

const READY = /^(listening on|working on|delivering)/;
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text, ...rest) => {
  const written = write(text, ...rest);
  if (READY.test(String(text))) process.kill(process.pid, 'SIGHUP');
  return written;
};
