/** ISO 639-1 codes plus haw and jw, in the order of the API reference. */
export const LANGUAGES = `
en es ru zh hi ar pt bn fr de ja ko tr it vi pl uk nl id th fa sv cs ro el hu da fi no sk he ms bg hr sr sl
lt lv et ta te mr ur sw ml kn gu pa my ne si km lo az kk uz ka hy sq bs mk is mn tg tk tt ca eu gl cy af tl
jw su yo ha so am sn mg ln mt lb oc br nn fo sd ps ht mi haw yi ba be as bo sa la`
  .trim()
  .split(/\s+/) as readonly string[];

const KNOWN = new Set(LANGUAGES);

export function isLanguage(code: string): boolean {
  return KNOWN.has(code);
}

/** Maps the ASR model's language code to the API's: Cantonese is stored as Chinese. */
export function storedLanguage(detected: string): string {
  return detected === 'yue' ? 'zh' : detected;
}
