import type { Route } from '../http/route.ts';
import { notifications, options, readNotifications, signIn, signOut, whoAmI } from './routes/account.ts';
import { consent, giveConsent } from './routes/consent.ts';
import { createKey, deleteKey, keys } from './routes/keys.ts';
import { operator, putSettings, settings } from './routes/operator.ts';
import {
  createMember,
  createProject,
  deleteMember,
  invited,
  listProjectMembers,
  memberLink,
  putProjectMember,
  updateMember,
  uploadPlaces,
} from './routes/people.ts';
import { endOidc, startOidc } from './routes/provider.ts';
import { createTemplate, deleteTemplate, readDraft, templates, tryDraft, updateTemplate } from './routes/templates.ts';
import { find, rename, rights } from './routes/transcripts.ts';
import { createWebhook, deleteWebhook, deliveries, replay, updateWebhook, webhooks } from './routes/webhooks.ts';
import { pages } from './static.ts';
import { twins } from './twins.ts';

/** Every route of the console, given the public ones. */
export function consoleRoutes(routes: readonly Route[]): Route[] {
  return [
    ...pages,
    options,
    whoAmI,
    signIn,
    signOut,
    startOidc,
    endOidc,
    notifications,
    readNotifications,
    find,
    rename,
    rights,
    uploadPlaces,
    keys,
    createKey,
    deleteKey,
    invited,
    createMember,
    updateMember,
    deleteMember,
    memberLink,
    createProject,
    listProjectMembers,
    putProjectMember,
    templates,
    createTemplate,
    updateTemplate,
    deleteTemplate,
    tryDraft,
    readDraft,
    webhooks,
    createWebhook,
    updateWebhook,
    deleteWebhook,
    deliveries,
    replay,
    operator,
    settings,
    putSettings,
    consent,
    giveConsent,
    ...twins(routes),
  ];
}
