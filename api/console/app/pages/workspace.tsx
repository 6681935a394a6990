import type { JSX } from 'preact';
import type { Session } from '../client.ts';
import { Problem, Waiting } from '../parts/basics.tsx';
import type { WorkspaceInfo } from '../types.ts';
import { useLoaded } from '../use.ts';
import { Keys } from './workspace/keys.tsx';
import { Members } from './workspace/members.tsx';
import { Preferences } from './workspace/preferences.tsx';
import { Projects } from './workspace/projects.tsx';
import { Templates } from './workspace/templates.tsx';
import { Webhooks } from './workspace/webhooks.tsx';

/** Everything about the workspace; what only owners may do is shown to owners only. */
export function Workspace({ session, tab }: { session: Session; tab: string }) {
  const owner = session.member.role === 'owner';
  const tabs = [
    ['', 'Minutes and limits', <Minutes />],
    ['keys', 'API keys', <Keys owner={owner} />],
    ['templates', 'Templates', <Templates owner={owner} />],
    ['projects', 'Projects', <Projects />],
    ...(owner
      ? [
          ['members', 'Members', <Members me={session.member.id} />],
          ['webhooks', 'Webhooks', <Webhooks />],
          ['settings', 'Vocabulary and retention', <Preferences />],
        ]
      : []),
  ] as [string, string, JSX.Element][];
  const [, title, content] = tabs.find(([name]) => name === tab) ?? tabs[0]!;
  return (
    <div class="with-side">
      <nav class="side" aria-label="Workspace">
        {tabs.map(([name, label]) => (
          <a key={name} href={`#/workspace/${name}`} aria-current={name === tab ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <section>
        <h1>{title}</h1>
        {content}
      </section>
    </div>
  );
}

const LIMIT: Record<string, string> = {
  max_file_size_mb: 'Largest file, MB',
  concurrency: 'Files at once',
  max_duration_hours: 'Longest recording, hours',
  reports_per_upload: 'Reports with one upload',
  reports_per_day: 'Reports a day',
};

function Minutes() {
  const { value, error } = useLoaded<WorkspaceInfo>('/workspace');
  if (error) return <Problem error={error} />;
  if (!value) return <Waiting />;
  return (
    <>
      <p class="big">
        {value.balance.available_minutes.toLocaleString(undefined, { maximumFractionDigits: 0 })} <span class="quiet">minutes left</span>
      </p>
      <dl class="facts">
        {Object.entries(value.limits).map(([name, limit]) => (
          <div key={name}>
            <dt>{LIMIT[name] ?? name}</dt>
            <dd>{limit}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
