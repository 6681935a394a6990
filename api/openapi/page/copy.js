/* The address of this server in each block of code, and a button beside it. */
for (const block of document.querySelectorAll('pre')) {
  const code = block.querySelector('code');
  code.textContent = code.textContent.replaceAll('http://127.0.0.1:8080', location.origin);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Press Ctrl+C'; // without https the clipboard is closed to pages
      getSelection().selectAllChildren(code);
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(block, button);
}
