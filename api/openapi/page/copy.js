/* A button beside each block of code. */
for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Press Ctrl+C'; // without https the clipboard is closed to pages
      getSelection().selectAllChildren(block.querySelector('code'));
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
