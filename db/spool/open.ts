import { join } from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { openFolderSpool } from './folder.ts';
import type { Spool } from './spool.ts';

/** Opens the place in LONGHAND_MEDIA: a folder, or `s3://bucket/prefix`. */
export async function openSpool(
  settings: Pick<Settings, 'LONGHAND_HOME'> & Partial<Pick<Settings, 'LONGHAND_MEDIA' | 'S3_ENDPOINT'>>,
): Promise<Spool> {
  const place = settings.LONGHAND_MEDIA ?? join(settings.LONGHAND_HOME, 'spool');
  if (place.startsWith('s3://')) {
    const { openS3Spool } = await import('./s3.ts'); // loaded on demand: the library takes 20 MB
    return openS3Spool(place, settings.S3_ENDPOINT);
  }
  return openFolderSpool(place);
}
