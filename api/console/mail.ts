import { createTransport } from 'nodemailer';
import type { Settings } from '../contract/settings.ts';

/** A letter of plain text. */
export interface Letter {
  to: string;
  subject: string;
  text: string;
}

const PATIENCE_MS = 10_000; // for each step of a delivery

/** Sends a letter. False: no mail server is set. Throws when the server does not take it. */
export async function send(settings: Pick<Settings, 'SMTP_URL' | 'MAIL_FROM'>, { to, subject, text }: Letter): Promise<boolean> {
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
