/** The 73 accepted file name extensions: self-describing formats that ffmpeg decodes. */
export const AUDIO_EXTENSIONS =
  'mp3 mp2 mpga mpa m2a wav wave bwf rf64 w64 m4a m4b m4r aac adts ogg oga spx opus flac amr awb 3ga wma aiff aif aifc au snd caf ac3 eac3 dts mka weba wv tta ape voc gsm ra'.split(
    ' ',
  ) as readonly string[];

export const VIDEO_EXTENSIONS =
  'mp4 m4v mov qt mkv webm avi divx wmv asf flv f4v mpeg mpg mpe m2p vob ts mts m2ts m2t 3gp 3gpp 3g2 3gpp2 ogv ogm mxf dv rm rmvb wtv'.split(
    ' ',
  ) as readonly string[];

export const EXTENSIONS: ReadonlySet<string> = new Set([...AUDIO_EXTENSIONS, ...VIDEO_EXTENSIONS]);

export const EXPORT_FORMATS = ['md', 'txt', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const SUBTITLE_FORMATS = ['srt', 'vtt'] as const;
export type SubtitleFormat = (typeof SUBTITLE_FORMATS)[number];

/** Made for people who are signed in to the console. */
export const DOCUMENT_FORMATS = ['docx', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];
