import { createTransport } from 'nodemailer';
import type { Log } from '../../db/ops/log.ts';
import type { Settings } from '../contract/settings.ts';

/** A plain text e-mail. */
export interface Letter {
  to: string;
  subject: string;
  text: string;
}

const PATIENCE_MS = 10_000; // per step of a delivery

/**
 * Sends an e-mail. False: no mail server is configured, or it rejects the message, which `complaint` reports in the log: by the codes of the
 * error only, because its text repeats the address.
 */
export async function send(settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM'>, log: Pick<Log, 'warn'>, letter: Letter, complaint: string) {
  return deliver(settings, letter).catch((error: { code?: unknown; responseCode?: unknown }) => {
    log.warn({ code: error.code, status: error.responseCode }, complaint);
    return false;
  });
}

/** False: no mail server is configured. Throws if the server rejects it. */
async function deliver(settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM'>, { to, subject, text }: Letter): Promise<boolean> {
  const { SMTP_URL: url, MAIL_FROM: from } = settings;
  if (!url || !from) return false;
  const transport = createTransport(
    {
      url,
      connectionTimeout: PATIENCE_MS,
      greetingTimeout: PATIENCE_MS,
      socketTimeout: PATIENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  try {
    await transport.sendMail({ to: { name: '', address: to }, subject: subject.replace(/\s+/g, ' '), text });
    return true;
  } finally {
    transport.close();
  }
}
