import { tellLowBalances } from '../../db/minutes/low-balance.ts';
import type { Services } from '../http/route.ts';
import { send } from './mail.ts';

/** Tells owners of workspaces whose minutes run out, in the console and by e-mail where a mail server is set. */
export async function sendNotices({ db, settings, log }: Pick<Services, 'db' | 'settings' | 'log'>): Promise<void> {
  for (const { workspaceName, minutes, owners } of await tellLowBalances(db)) {
    const text = `The workspace "${workspaceName}" has ${Math.max(0, minutes)} minutes left. Recordings that need more are kept back until the operator adds some.\n`;
    for (const to of owners)
      await send(settings, { to, subject: `Few minutes are left: ${workspaceName}`, text }).catch((error: unknown) =>
        log.warn({ error }, 'cannot send a notice by e-mail'),
      );
  }
}
