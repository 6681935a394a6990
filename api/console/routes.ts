import type { Route } from '../http/route.ts';
import { forPeople } from './page.ts';
import { clients, endClient, endGrant, endSession, grants, sessions } from './routes/access.ts';
import { notifications, options, readNotifications, signIn, signOut, whoAmI } from './routes/account.ts';
import { consent, giveConsent } from './routes/consent.ts';
import { changes, correctText } from './routes/corrections.ts';
import { documents, manyDocuments } from './routes/documents.ts';
import { invitations, newInvitation, removeInvitation } from './routes/invitations.ts';
import { deleteKey, keys, newKey } from './routes/keys.ts';
import { activity, installation, putSettings, settings } from './routes/operator.ts';
import { createMember, deleteMember, invited, memberLink, updateMember } from './routes/people.ts';
import { newProject, projectMembers, putProjectMember, uploadPlaces } from './routes/projects.ts';
import { choices, endOidc, startOidc } from './routes/provider.ts';
import { auditLog, usageOf } from './routes/records.ts';
import { earlier, extractive, regenerate } from './routes/reports.ts';
import { newTemplate, readDraft, removeTemplate, templates, tryDraft, updateTemplate } from './routes/templates.ts';
import { deleteMany, listing, moveMany, rename, rights } from './routes/transcripts.ts';
import { deliveries, replay } from './routes/webhooks.ts';
import { pages } from './static.ts';

/** Every route of the console, given the public ones. */
export function consoleRoutes(routes: readonly Route[]): Route[] {
  return [
    ...pages,
    options,
    whoAmI,
    signIn,
    signOut,
    sessions,
    endSession,
    grants,
    endGrant,
    clients,
    endClient,
    startOidc,
    endOidc,
    choices,
    invitations,
    newInvitation,
    removeInvitation,
    notifications,
    readNotifications,
    listing,
    moveMany,
    deleteMany,
    documents,
    manyDocuments,
    correctText,
    changes,
    regenerate,
    earlier,
    extractive,
    rename,
    rights,
    uploadPlaces,
    keys,
    newKey,
    deleteKey,
    invited,
    createMember,
    updateMember,
    deleteMember,
    memberLink,
    newProject,
    projectMembers,
    putProjectMember,
    templates,
    newTemplate,
    updateTemplate,
    removeTemplate,
    tryDraft,
    readDraft,
    deliveries,
    replay,
    activity,
    usageOf,
    auditLog,
    installation,
    settings,
    putSettings,
    consent,
    giveConsent,
    ...forPeople(routes),
  ];
}
