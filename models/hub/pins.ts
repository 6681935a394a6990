/** Commit of a repository on Hugging Face, and the SHA-256 of its `model.safetensors` there. */
export interface Pin {
  revision: string;
  sha256: string;
}

/**
 * Versions that `models pull` takes for short names, so that nobody is given other weights than those meant here. The values are those on
 * Hugging Face for these commits. A short name with `@revision` is not pinned, and neither are the names missing here.
 */
export const PINS: Readonly<Record<string, Pin>> = {
  tiny: pin('169d4a4341b33bc18d8881c4b69c2e104e1cc0af', '7ebd0e69e78190ffe1438491fa05cc1f5c1aa3a4c4db3bc1723adbb551ea2395'),
  'tiny.en': pin('87c7102498dcde7456f24cfd30239ca606ed9063', 'db59695928ded6043adaef491a53ef4e12da9611184d77c53baa691a60b958ad'),
  base: pin('e37978b90ca9030d5170a5c07aadb050351a65bb', '07cadb9f25677c8d50df603e66a98fbd842cce45047139baeb16e6219a1e807b'),
  'base.en': pin('911407f4214e0e1d82085af863093ec0b66f9cd6', 'd4dd5542fd6a1d35639e21384238f3bfe6c557c849d392b5905d33ee29e71db5'),
  small: pin('973afd24965f72e36ca33b3055d56a652f456b4d', '1d7734884874f1a1513ed9aa760a4f8e97aaa02fd6d93a3a85d27b2ae9ca596b'),
  'small.en': pin('e8727524f962ee844a7319d92be39ac1bd25655a', '6014ac49b506df900f66f4aca6b0801eed7245594ace97bcaf73e0ae5b863066'),
  medium: pin('abdf7c39ab9d0397620ccaea8974cc764cd0953e', '62f73550fa6db24b0c6f6c5962bd0dae80fa644e93cde9cd9c3792971b47fd28'),
  'medium.en': pin('2e98eb6279edf5095af0c8dedb36bdec0acd172b', '8f731340f569588236c21f794c33e83b7cc5a297511d2bdc30117ea969004311'),
  'large-v2': pin('ae4642769ce2ad8fc292556ccea8e901f1530655', '57a1ba2a82c093cabff2541409ae778c97145378b9ddfa722763cb1cb8f9020b'),
  'large-v3': pin('06f233fe06e710322aca913c1bc4249a0d71fce1', 'a8e94b85976e5864ba3e9525c7e6c83b2a1eca42d4b797a0c7c24d778e40fd95'),
  'large-v3-turbo': pin('41f01f3fe87f28c78e2fbf8b568835947dd65ed9', '542566a422ae4f3fd23f1ba11add198fca01bbf82e66e6a2857b3f608b1eb9d1'),
};

function pin(revision: string, sha256: string): Pin {
  return { revision, sha256 };
}
