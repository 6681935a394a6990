import type { JSX } from 'preact';
import type { Session } from '../client.ts';
import { Problem, Waiting } from '../parts/basics.tsx';
import type { WorkspaceInfo } from '../types.ts';
import { useLoaded, useNavigation, useTitle } from '../use.ts';
import { Access } from './workspace/access.tsx';
import { Keys } from './workspace/keys.tsx';
import { AuditLog } from './workspace/log.tsx';
import { Members } from './workspace/members.tsx';
import { Preferences } from './workspace/preferences.tsx';
import { Projects } from './workspace/projects.tsx';
import { Templates } from './workspace/templates.tsx';
import { Usage } from './workspace/usage.tsx';
import { Webhooks } from './workspace/webhooks.tsx';

/** Everything about the workspace; parts for owners are only shown to owners. */
export function Workspace({ session, tab }: { session: Session; tab: string }) {
  const owner = session.member.role === 'owner';
  const tabs = [
    ['', 'Overview', <Minutes />],
    ['keys', 'API keys', <Keys owner={owner} />],
    ['templates', 'Templates', <Templates owner={owner} />],
    ['projects', 'Projects', <Projects />],
    ['access', 'Sessions and assistants', <Access owner={owner} />],
    ...(owner
      ? [
          ['members', 'Members', <Members me={session.member.id} />],
          ['webhooks', 'Webhooks', <Webhooks />],
          ['settings', 'Vocabulary and retention', <Preferences />],
          ['usage', 'Usage', <Usage />],
          ['log', 'Audit log', <AuditLog />],
        ]
      : []),
  ] as [string, string, JSX.Element][];
  const [, title, content] = tabs.find(([name]) => name === tab) ?? tabs[0]!;
  useTitle(title);
  const nav = useNavigation(tab);
  return (
    <div class="with-side">
      <nav ref={nav} class="side" aria-label="Workspace">
        {tabs.map(([name, label]) => (
          <a key={name} href={`#/workspace/${name}`} aria-current={name === tab ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <section>
        <div class="head">
          <h1>{title}</h1>
        </div>
        {content}
      </section>
    </div>
  );
}

const LIMIT: Record<string, string> = {
  max_file_size_mb: 'Largest file, MB',
  concurrency: 'Concurrent files',
  max_duration_hours: 'Longest recording, hours',
  reports_per_upload: 'Reports per upload',
  reports_per_day: 'Reports per day',
};

function Minutes() {
  const { value, error, again } = useLoaded<WorkspaceInfo>('/workspace');
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <>
      <section class="card">
        <div class="quiet">Balance of {value.workspace.name}</div>
        <div class="big">{Math.floor(value.balance.available_minutes).toLocaleString()} minutes</div>
        <div class="quiet">of audio, not counting those reserved for files in progress</div>
      </section>
      <section class="card">
        <h2>Limits</h2>
        <dl class="facts">
          {Object.entries(value.limits).map(([name, limit]) => (
            <div key={name}>
              <dt>{LIMIT[name] ?? name}</dt>
              <dd class="figure">{limit.toLocaleString()}</dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}
