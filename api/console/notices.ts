import { notifyLowBalances } from '../../db/minutes/low-balance.ts';
import type { Services } from '../http/route.ts';
import { send } from './mail.ts';

/** Notifies workspace owners who are running out of minutes, in the console and by e-mail if a mail server is configured. */
export async function sendNotices({ db, settings, log }: Pick<Services, 'db' | 'settings' | 'log'>): Promise<void> {
  for (const { workspaceName, minutes, owners } of await notifyLowBalances(db)) {
    const text = `The workspace "${workspaceName}" has ${Math.max(0, minutes)} minutes left. Recordings that need more are held until the operator adds minutes.\n`;
    for (const to of owners)
      await send(settings, log, { to, subject: `Few minutes left: ${workspaceName}`, text }, 'cannot send a notice by e-mail');
  }
}
