/* Uploads FILE to URL with Node's fetch or http, and prints the response: clients.mjs NAME URL KEY FILE */
import { createReadStream, openAsBlob, statSync } from 'node:fs';
import http from 'node:http';

const [name, url, key, file] = process.argv.slice(2);
const headers = { authorization: `Bearer ${key}`, 'content-disposition': 'attachment; filename="call.wav"' };
if (name === 'fetch') {
  const answer = await fetch(url, { method: 'POST', headers, body: await openAsBlob(file) });
  console.log(answer.status, await answer.text());
} else {
  const request = http.request(url, { method: 'POST', headers: { ...headers, 'content-length': statSync(file).size } });
  let answered = false;
  request.on('response', async (answer) => {
    answered = true;
    console.log(answer.statusCode, Buffer.concat(await answer.toArray()).toString());
    process.exit();
  });
  request.on('error', (error) => {
    if (!answered) throw error;
  });
  createReadStream(file).pipe(request);
}
