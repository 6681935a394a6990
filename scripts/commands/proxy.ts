import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici';

const NAMES = ['HTTPS_PROXY', 'HTTP_PROXY'];

/** Sends the requests of this process through the proxy that the environment names, except to hosts in NO_PROXY. Node itself ignores both. */
export function useProxy(): void {
  const named = NAMES.find((name) => process.env[name] || process.env[name.toLowerCase()]);
  if (!named) return;
  try {
    setGlobalDispatcher(new EnvHttpProxyAgent());
  } catch (cause) {
    throw new Error(`Cannot use ${named}: expected the URL of a proxy, such as http://proxy.example:3128`, { cause });
  }
}
