import { PRODUCT } from "./rules.ts";

/**
 * Whether words in a sentence are asserted by us, rather than denied, defined, asked, reported or said of somebody else.
 * Patterns, not grammar: docs/claims.md says where they end.
 */
export interface Phrase {
  /** The whole sentence, without what it quotes. */
  sentence: string;
  /** Where the words that make the claim start and end. */
  start: number;
  end: number;
}

const VERB =
  /\b(?:am|is|are|was|were|be|been|has|have|become|becomes|became|make|makes|made|turn|turns|go|goes|went|get|gets|stay|stays|keep|keeps|run|runs|ship|ships|do|does|can|will|offset|offsets|neutralise|neutralises|compensate|compensates|sell|sells)\b|'(?:re|s|m|ll|ve)\b/i;

export function isAsserted(phrase: Phrase): boolean {
  const { sentence, start, end } = phrase;
  if (/\?\W*$/.test(sentence)) return false;
  const before = afterHardBreak(sentence.slice(0, start));
  const clause = afterSoftBreak(before);
  const rest = sentence.slice(end).split(/[;:]/)[0] ?? "";
  return !(
    isNegated(clause) ||
    isJudged(clause, rest) ||
    isReported(clause) ||
    isConditional(clause) ||
    isDefinition(clause, rest)
  );
}

/**
 * Third parties: what they are or promise is no claim about us, our customers or what we sell. They must be the subject
 * of the claim, since a country or a law that is only mentioned says nothing about whose claim it is.
 */
export function isAboutOthers({ sentence, start, end }: Phrase, ourNames: readonly string[]): boolean {
  const isAboutUs =
    /\b(?:we|our|ours|us|you|your|yours|i|my)\b/i.test(sentence.replaceAll(/\bU[SK]\b/g, "")) ||
    ourNames.some((name) => sentence.toLowerCase().includes(name.toLowerCase()));
  if (isAboutUs) return false;
  if (GOAL_OF_OTHERS.test(sentence.slice(end))) return true;
  const subjects = OTHERS.flatMap((others) => [...sentence.slice(0, start).matchAll(others)]);
  return subjects.some(({ index, 0: subject }) => {
    const predicate = sentence.slice(index + subject.length, end);
    return (VERB.test(predicate) || VERB_OF_OTHERS.test(predicate)) && !PRODUCT_AS_SUBJECT.test(predicate);
  });
}

const THIRD_PARTY =
  "(?:world|planet|countr(?:y|ies)|nations?|governments?|econom(?:y|ies)|society|humanity|industry|sectors?|scien(?:ce|tists?)|cit(?:y|ies)|states?|EU|European Union|Europe|UK|United Kingdom|Britain|India|Germany|France|China|Paris Agreement|parliament|law|directive|regulators?|standard|signator(?:y|ies))";
/** As a subject: not "in India", nor "India's first", nor "industry-leading". */
const OTHERS = [
  new RegExp(
    `(?<!-|\\b(?:in|across|for|from|of|throughout|around|to|by|under|with|within|over|at|on) (?:(?:the|this|an?|every|each|all|any|most|many|some|several|whole|entire|\\d{1,3}) )*)\\b${THIRD_PARTY}\\b(?!['-])`,
    "gi",
  ),
  /^\W*(?:(?:many|some|most|other|several|few|even|all|more and more) )*(?:companies|firms|businesses|organisations|sellers|providers|brands|airlines)\b/gi,
];
/** "Net zero by 2050 is the goal of the Paris Agreement." */
const GOAL_OF_OTHERS = new RegExp(
  `^[^,;:]* (?:is|was|remains) (?:an?|the) (?:[\\w-]+ )?(?:goal|target|aim) (?:of|for) (?:the )?${THIRD_PARTY}\\b(?!['-])`,
  "i",
);
const VERB_OF_OTHERS =
  /\b(?:must|may|might|could|would|should|shall|(?:want|aim|plan|pledge|promise|commit|need|ask|require|set|say|call|claim|reach|achieve|target|intend|hope|expect|ban|fine|advertise|buy|use)(?:s|es|d|ed|ned|ted)?|said|bought)\b/i;
const PRODUCT_AS_SUBJECT = new RegExp(
  `(?<!\\b(?:its|their) )\\b${PRODUCT} (?:is|are|was|were|becomes?|stays?|remains?)\\b`,
  "i",
);

const HARD_BREAK = /[;:—–]\s|\s-\s|(?<!anything )\bbut\b|\bhowever\b|,\syet\b|\.\s/gi;
const SOFT_BREAK = /,\s(?!for example|for instance|such as)|\band\b|\bbecause\b|\bsince\b|\bso that\b|\bwhile\b/gi;

function afterHardBreak(text: string): string {
  return text.slice(Math.max(0, ...[...text.matchAll(HARD_BREAK)].map(({ index, 0: mark }) => index + mark.length)));
}

/** A comma or "and" starts a clause of its own if a verb follows it. */
function afterSoftBreak(text: string): string {
  if (hasNegativeSubject(text)) return text;
  const starts = [...text.matchAll(SOFT_BREAK)]
    .map(({ index, 0: mark }) => index + mark.length)
    .filter((index) => VERB.test(text.slice(index)));
  return text.slice(Math.max(0, ...starts));
}

/** "no" in these is no denial. */
const EMPTY_NO =
  "(?!doubt|wonder|matter|less|fewer|fuss|hassle|costs?|extra|additional|problem|question|effort|time|strings|need|risk|paperwork|contract|catch|other|one else|ifs|compromise)";

/** `No product, service or person becomes …`: one verb, and what it says is denied. */
function hasNegativeSubject(clause: string): boolean {
  const verbs = clause.match(new RegExp(VERB, "gi")) ?? [];
  const pattern = new RegExp(
    `^\\W*(?:and |so |then )?(?:no ${EMPTY_NO}|none\\b|neither\\b|nobody\\b(?! else)|nothing (?!stands|could|is easier))`,
    "i",
  );
  return verbs.length <= 1 && pattern.test(clause);
}

function isNegated(clause: string): boolean {
  // "You will not regret our carbon neutral coffee" still says that the coffee is.
  if (/\bour (?:(?:own|new|famous|first|whole|\w+ly|\w+est) )?$/i.test(clause)) return false;
  return (
    hasNegativeSubject(clause) ||
    /(?:\b(?:not|never|cannot|nor|neither|nobody(?! else)|none|nothing(?! stands)|no one(?! else)|no longer|hardly|rarely)\b|n't\b)(?! (?:only|just|merely|simply|least|to mention|(?:\w+ ){0,4}(?:easier|simpler|cheaper|faster|better|go wrong)))/i.test(
      clause,
    ) ||
    new RegExp(`\\bno ${EMPTY_NO}(?:[\\w-]+ ){0,3}$`, "i").test(clause) ||
    /\bwithout (?:being|becoming|making|claiming|calling|saying)\b/i.test(clause) ||
    /\b(?:instead of|rather than|far from|short of|anything but)(?: [\w-]+){0,3} ?$/i.test(clause)
  );
}

/** Called wrong, forbidden or impossible. */
function isJudged(before: string, after: string): boolean {
  const verdict =
    /(?<!\b(?:not|never|nothing is|go) )\b(?:misleading|misleads?|unlawful|illegal|forbid(?:s|den)?|prohibit(?:s|ed)?|ban(?:s|ned)?|untrue|wrong(?:ly)?|myth|impossible|(?:was|were|been) (?:fined|sued))\b/i;
  return (
    verdict.test(before) ||
    verdict.test(after) ||
    /^\W*(?:\w+ )?(?:(?:is|are|was|were) (?:not|never|neither|no)\b|(?:do|does|did|can)(?: not|n't|not) (?:exist|mean|prove))/i.test(
      after,
    )
  );
}

/** Somebody else says so. What we say ourselves, or invite customers to say, is ours. */
function isReported(clause: string): boolean {
  const isReport =
    /\b(?:say|says|said|saying|tell|tells|told|telling|claim|claims|claimed|claiming|write|writes|think|thinks|believe|believes|suggest|suggests|imply|implies|idea|statement|assertion)\b.*\b(?:that|you|it)\b/i.test(
      clause,
    ) || /\b(?:call|calls|called|calling|describe|describes|described|advertise|advertised|so-called)\b/i.test(clause);
  const isOurs =
    /\b(?:we|i|you)\b(?: \w+){0,3} (?:say|tell|claim|call|promise|describe|advertise)\b|\b(?:proud|proudly|happy|glad)\b/i.test(
      clause,
    ) || /^\W*(?:(?:and|so|then|just|simply|now|please) )*(?:say|tell|claim|call|describe|advertise)\b/i.test(clause);
  return isReport && !isOurs;
}

function isConditional(clause: string): boolean {
  return (
    /\b(?:if|whether|unless|until|as though|suppose|imagine)\b/i.test(clause) ||
    /^\W*to (?:be|become|go|stay|reach|achieve)\b.*\b(?:must|need|needs|should|has to|have to)\b/i.test(clause)
  );
}

function isDefinition(before: string, after: string): boolean {
  const isTermFirst =
    /^\W*(?:(?:a|an|the|being|to be|becoming|going|truly|really|by|term|word|words|(?:[\w-]+ ){0,3}what) ?)*\W*$/i.test(
      before,
    ) &&
    /^\W*(?:[\w-]+ ){0,4}?(?:means?|refers? to|describes?|stands? for|is defined|(?:is|are) when|is (?:a|the) (?:[\w-]+ )?(?:term|word|state|point|balance|situation|moment|idea))\b/i.test(
      after,
    );
  const isGeneral =
    /^\W*(?:an?|any) [\w -]+ (?:is|becomes|can be|counts as|may be)(?: \w+)? ?$/i.test(before) &&
    /^\W*(?:when|if|once|only|as soon as)\b/i.test(after);
  const isEffort =
    /^\W*(?:being|becoming|going|staying|reaching) $/i.test(before) &&
    /^\W*(?:[\w-]+ ){0,3}(?:takes|requires|needs|costs|demands|is (?:hard|difficult))\b/i.test(after);
  const isCompared = /\b(?:differences?|distinctions?) between (?:(?!(?:is|are)\b)[\w'-]+ ){0,5}$/i.test(before);
  return isTermFirst || isGeneral || isEffort || isCompared;
}
