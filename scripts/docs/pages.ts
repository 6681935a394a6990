/** The pages of docs/ that are written from tables of the code: settings, accepted files, the command line. */
import type { Command } from 'commander';
import { AUDIO_EXTENSIONS, EXPORT_FORMATS, SUBTITLE_FORMATS, VIDEO_EXTENSIONS } from '../../api/contract/formats.ts';
import { LANGUAGES } from '../../api/contract/languages.ts';
import { LIMITS, TIGHTENABLE } from '../../api/contract/limits.ts';
import { describeSettings } from '../../api/contract/settings.ts';
import { openProgram } from '../commands/program.ts';

interface Page {
  /** Relative to docs/. */
  file: string;
  text: string;
}

/** Read outside the settings table: by ffmpeg's look-up, the model hub and the AWS client. */
const OTHERS: [name: string, meaning: string][] = [
  ['FFMPEG_PATH', 'The ffmpeg to use; without it the `PATH`, then the build that comes with npm'],
  ['HF_ENDPOINT', 'Model hub for `models pull`; without it `https://huggingface.co`'],
  ['HF_TOKEN', 'Token for that hub'],
  ['AWS_ACCESS_KEY_ID', 'Credentials of the S3 store, as `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`'],
];

const WRITTEN = '<!-- Written by `npm run docs` from the code; change it there. -->';

export function generatedPages(): Page[] {
  return [
    { file: 'configuration.md', text: configuration() },
    { file: 'formats.md', text: formats() },
    { file: 'command-line.md', text: commandLine() },
  ];
}

function configuration(): string {
  const settings = describeSettings().map(({ name, standard, meaning }) => [code(name), standard === null ? '' : code(standard), meaning]);
  const limits = TIGHTENABLE.map((name) => [code(`LONGHAND_LIMIT_${name}`), LIMITS[name].toLocaleString('en')]);
  return `${WRITTEN}
# Configuration

Settings are environment variables or lines of a \`.env\` file (in the current folder, else in the checkout); the environment wins. Each has a working
default. \`scripts/longhand doctor\` prints the values in use and where each came from, with secrets hidden. An unknown \`LONGHAND_\` name is refused at
start, with the nearest known one.

${table(['variable', 'default', 'meaning'], settings)}

## Limits

\`LONGHAND_LIMIT_*\` can only lower the limits that the API publishes to its clients; a higher value is refused at start.

${table(['variable', 'default and maximum'], limits)}

Names end in their unit: \`_S\` seconds, \`_BYTES\` bytes, \`_MIN\` minute; the others are counts. The remaining limits are fixed: \`api/contract/limits.ts\`.

## Variables of other programs

${table(
  ['variable', 'meaning'],
  OTHERS.map(([name, meaning]) => [code(name), meaning]),
)}
`;
}

function formats(): string {
  const list = (names: readonly string[]) => names.map(code).join(' ');
  return `${WRITTEN}
# Formats and languages

## Accepted files

The extension of the file name decides whether an upload is accepted, in any letter case; the content decides how it is read. A recording lasts 1 second to
${LIMITS.MAX_DURATION_S / 3600} hours and has up to ${LIMITS.MAX_FILE_BYTES / 2 ** 30} GiB. Playlists, raw PCM, files with DRM and tracker modules are not accepted.

Audio (${AUDIO_EXTENSIONS.length}): ${list(AUDIO_EXTENSIONS)}

Video (${VIDEO_EXTENSIONS.length}), of which the sound is transcribed: ${list(VIDEO_EXTENSIONS)}

## Results

Exports: ${list(EXPORT_FORMATS)}. Subtitles: ${list(SUBTITLE_FORMATS)}. The console also makes Word documents (\`docx\`) and \`pdf\`. \`md\` and \`txt\` begin with a UTF-8 byte-order mark, so that older Windows programs read
them as UTF-8; a parser of front matter may want it removed. \`json\`, \`srt\` and \`vtt\` have none.

## Languages

\`language\` takes one of these ${LANGUAGES.length} codes, or \`auto\` (the default), which detects it:

${LANGUAGES.join(' ')}

How well each is recognised depends on the model: [benchmarks](benchmarks.md), [known weaknesses](benchmarks.md#known-weaknesses).
`;
}

function commandLine(): string {
  const program = openProgram();
  return `${WRITTEN}
# Command line

\`scripts/longhand\` in a checkout, \`npx longhand\` where it is installed as a package; \`npm link\` puts \`longhand\` on the \`PATH\`. Results go to standard
output; progress and logs to standard error. Exit codes: 0 success, 1 failure, 2 usage error. \`--json\` prints results as JSON.

A workspace for a team, a key that may read and upload, and a link that signs a person in to the console:

\`\`\`sh
scripts/longhand admin workspace create --name Acme --minutes 6000 --json
scripts/longhand admin member add --workspace WORKSPACE --email anna@example.com --role owner --json
scripts/longhand admin key create --workspace WORKSPACE --member MEMBER --scopes read,uploads:write --json
scripts/longhand admin member link --workspace WORKSPACE --member MEMBER
\`\`\`

\`admin\` works on the database directly, so it needs the settings of the service and no running API. A lost key cannot be shown again: make another with
\`admin key create\`, and end the old one with \`admin key revoke\`.

${program.commands.map((command) => section(command, 'longhand', '##')).join('\n\n')}
`;
}

function section(command: Command, parent: string, heading: string): string {
  const { name, words } = usage(command, parent);
  const options = command.options.map((option) => [
    code(option.flags),
    `${option.description}${option.mandatory ? ' (required)' : ''}`,
    option.argChoices ? option.argChoices.map(code).join(' ') : '',
    shown(option.defaultValueDescription ?? option.defaultValue),
  ]);
  const parts = [
    `${heading} ${name}`,
    `${sentence(command.description())}`,
    command.commands.length ? '' : `\`${words}\``,
    options.length ? table(['option', 'meaning', 'values', 'default'], options) : '',
    ...command.commands.map((child) => section(child, name, '###')),
  ];
  return parts.filter(Boolean).join('\n\n');
}

function usage(command: Command, parent: string) {
  const name = `${parent} ${command.name()}`;
  return { name, words: `${name} ${command.usage()}`.trim() };
}

function shown(value: unknown): string {
  return value === undefined || value === false ? '' : code(String(value));
}

const code = (text: string) => `\`${text}\``;
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
