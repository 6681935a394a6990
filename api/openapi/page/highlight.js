/* Colours the code of the guides: comments, strings, numbers and the words of its language. The text stays as it is. */
const SLASHES = String.raw`\/\/.*|\/\*[^]*?\*\/`;
const HASH = String.raw`(?<=^|\s)#.*`;
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const words = (text) => String.raw`(?<![\p{L}\w$.])(?:${text.replaceAll(' ', '|')})(?![\p{L}\w])`;

const LANGUAGES = {
  sh: {
    comment: HASH,
    string: String.raw`"(?:\\.|[^"\\])*"|'[^']*'`,
    keyword: words('if then else elif fi for in while until do done case esac export set sleep echo curl longhand jq grep sed'),
    name: String.raw`\$\{?\w+\}?|(?<=\s)--?[A-Za-z][\w-]*`,
  },
  js: {
    comment: SLASHES,
    string: `${QUOTED}|\`(?:\\\\.|[^\`\\\\])*\``,
    keyword: words(
      'import from export const let function async await return if else for of while do new throw try catch typeof null true false',
    ),
  },
  python: {
    comment: HASH,
    string: `"""[^]*?"""|${QUOTED}`,
    keyword: words(
      'import from as def return if elif else for in while with not and or is None True False raise try except lambda print',
    ),
  },
  go: {
    comment: SLASHES,
    string: `${QUOTED}|\`[^\`]*\``,
    keyword: words('package import func return if else for range defer var const type struct map string int error nil true false'),
  },
  java: {
    comment: SLASHES,
    string: QUOTED,
    keyword: words('import public static final class void var new return if else while for throws throw try catch String null true false'),
  },
  php: {
    comment: `${SLASHES}|${HASH}`,
    string: QUOTED,
    keyword: words('php function return if else while do for foreach as new echo exit null true false'),
    name: String.raw`\$\w+`,
  },
  bsl: {
    comment: SLASHES,
    string: '"(?:""|[^"])*"',
    keyword: words('Функция КонецФункции Процедура КонецПроцедуры Возврат Новый Если Тогда Иначе КонецЕсли Цикл КонецЦикла Истина Ложь'),
  },
  json: { name: String.raw`"(?:\\.|[^"\\])*"(?=\s*:)`, string: QUOTED, keyword: words('true false null') },
};
const NUMBER = String.raw`(?<![\p{L}\w.])\d[\d_]*(?:\.\d+)?(?![\p{L}\w]|\.\d)`; // no part of an IP address

for (const code of document.querySelectorAll('code[data-language]')) {
  const kinds = LANGUAGES[code.dataset.language];
  if (!kinds) continue;
  const groups = Object.entries({ ...kinds, number: NUMBER }).map(([kind, pattern]) => `(?<${kind}>${pattern})`);
  const text = code.textContent;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(new RegExp(groups.join('|'), 'gmu'))) {
    const [kind] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    const part = document.createElement('span');
    part.className = `code-${kind}`;
    part.textContent = match[0];
    parts.push(text.slice(end, match.index), part);
    end = match.index + match[0].length;
  }
  code.replaceChildren(...parts, text.slice(end));
}
