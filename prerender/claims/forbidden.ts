import type { Sentence } from "./sentences.ts";

/**
 * Wording that is wrong wherever it stands. A wrong stop is worse than a miss, because every sentence about the
 * environment is read by a person anyway: what may be a denial, a question, a quotation, a definition, a report or a
 * plan is left to that person.
 */
export interface ForbiddenWording {
  name: string;
  law: string;
  better: string;
  patterns: readonly RegExp[];
  /** Words in the same paragraph that make it specific, and so another claim. */
  unless?: RegExp;
  examples: { stopped: readonly string[]; passed: readonly string[] };
}

const NEUTRAL =
  "(?:(?:fully|completely|entirely|truly|certified|now|already|also|even|totally|100 ?%|a|an|the|(?:world|europe|britain|uk)'s|first) )*(?:(?:carbon|climate|co2e?|ghg)[- ]?(?:neutral|positive|negative|compensated|zero)|(?:net[- ])?zero[- ](?:carbon|co2e?)(?:[- ]footprint)?)";
const NET_ZERO = "(?:(?:fully|now|already) )*net[- ]zero[.!]?$";
const DELIVERY = "(?:deliver(?:y|ies)|shipping|shipments?|parcels?|orders?|hosting|printing|packaging)";
const GOODS =
  "(?:products?|services?|flights?|journeys?|trips?|rides?|stays?|holidays?|coffees?|teas?|milk|beef|wine|beers?|bottles?|shampoos?|soaps?|fuel|petrol|diesel|oil|gas|energy|electricity|tariffs?|websites?|events?|clothes|shoes|bags?|cars?|phones?|accounts?|cards?)";
const OFFER = `(?:(?:gas|heating|express|online|web|oat|ground|next-day) )?(?:${DELIVERY}|${GOODS})`;
const OURS =
  "(?:our|your|every|each|all(?: of)?(?: (?:our|your))?) (?!planet|world|econom|society|industry|sector|nation|ocean|bod)(?:[a-z-]+ ){1,5}?";
const THIS = `(?:this|these|the) (?:[a-z-]+ )?${OFFER} `;
const BE = "(?:am|is|are|can be|will be|becomes?|will become|stays?|remains?|goe?s?)";
const SELL =
  "(?:our|(?:^|[,;:!] |\\byou can )(?:enjoy|buy|choose|shop|order|book|get|discover|drink|switch to|introducing|try)|\\bwe (?:now |only )?(?:offer|sell|provide|deliver|serve))(?: (?:our|a|the|your|new|own|first|most))*";
const FOOTPRINT =
  "(?:own |company's |personal |whole |entire )*(?:carbon |co2e? |climate |ghg )?(?:footprint|emissions|impact|co2e?)";
const GENERIC =
  "(?:(?:eco|planet|earth|nature|climate|environment)(?:'s)?[- ]friend(?:ly|lier)?|(?:environmentally|ecologically|climate)[- ](?:friendly|friendlier|safe|correct|sound)|(?:good|great|kind|kinder|gentle|safe|better) (?:for|to|on|with) (?:the |our |mother )?(?:planet|earth|environment|climate|nature))";
const MARK = "(?:label|seal|badge|logo|mark|stamp|certificate|sign)";

const wording = (...patterns: string[]) => patterns.map((pattern) => new RegExp(pattern, "i"));

export const FORBIDDEN: readonly ForbiddenWording[] = [
  {
    name: "neutral thanks to offsets",
    law: "Directive 2005/29/EC, Annex I, 4c: no offer is neutral, compensated or positive because of reductions elsewhere",
    better: "Say what happens: “Our credits pay for reductions elsewhere. Your own emissions stay what they are.”",
    patterns: wording(
      `\\b(?:we|you)(?: (?:are|can be|will be|become|go)|'re) (?:${NEUTRAL}\\b|${NET_ZERO})`,
      `\\b(?:${OURS}|${THIS})${BE} (?:${NEUTRAL}\\b|${NET_ZERO})`,
      `(?:[:,] |\\bso )it is ${NEUTRAL}[.!]?$`,
      `\\b(?:makes?|keeps?|turns?) (?:you\\b|your|our|every|each|all)(?: [a-z-]+){0,5}? ${NEUTRAL}\\b`,
      `${SELL} ${NEUTRAL} ${OFFER}\\b`,
      `\\bour ${NEUTRAL} (?!future|journey|logo|pathway|plans?|polic|programme|projects?|roadmap|scheme|strateg|team|training)[a-z]+`,
      `(?:^|\\b(?:is|are) )(?:produced|made|printed|delivered|shipped|brewed|roasted|grown) ${NEUTRAL}\\b`,
      `^${NEUTRAL} (?:${DELIVERY}|${OFFER} (?:for|on|with|from) (?:your|our|every|all|us)\\b)[a-z ]*[.!]?$`,
      `^${NEUTRAL} since \\d{4}[.!]?$|^certified ${NEUTRAL}(?: ${OFFER})?[.!]?$`,
      `(?:^|[,:;] |\\b(?:and|you) )(?:fly|drive|travel|ship|go|become|live|shop|commute|eat|heat) (?:with )?${NEUTRAL}\\b`,
      `(?:^|\\b(?:we|you|credits|trees|to|us) (?:will |can |fully )?)(?:neutrali[sz]e|cancel out|wipe out|erase|undo) (?:all )?your ${FOOTPRINT}`,
    ),
    examples: {
      stopped: [
        "Our parcels are carbon neutral.",
        "We make your trip climate neutral.",
        "Fly CO2 zero.",
        "We neutralise your carbon footprint by planting trees.",
      ],
      passed: [
        "We are not carbon neutral.",
        "Are we carbon neutral?",
        "We took the carbon neutral logo off.",
        "Carbon neutral means that what remains is balanced.",
        "Norway wants to be climate neutral.",
      ],
    },
  },
  {
    name: "credits that reduce the buyer's emissions",
    law: "Directive 2005/29/EC, Annex I, 4c, and Article 6: reductions elsewhere are not the buyer's own",
    better: "“Cut your own emissions first. For the rest, credits pay for reductions elsewhere.”",
    patterns: wording(
      `\\b(?:credits?|offsets?|offsetting|trees|planting(?: trees)?)(?: (?:that )?(?:we|you) (?:buy|sell|plant))?(?: (?:will|can|directly|really|also|help(?:s)?(?: you)?(?: to)?))* (?:reduces?|cuts?|lowers?|shrinks?|removes?|brings? down|slash(?:es)?) (?:your|our|a company's|the buyer's) ${FOOTPRINT}`,
      `\\b(?:reduce|cut|lower|shrink|slash) your ${FOOTPRINT} (?:to zero )?(?:by (?:buying|planting)|with|through) (?:our |carbon |a few |more )*(?:credits?|offsets?|offsetting|certificates?|trees)\\b`,
    ),
    examples: {
      stopped: ["Our credits reduce your carbon footprint.", "Cut your emissions by buying carbon credits."],
      passed: ["Credits do not reduce your own emissions.", "Offsets come after you have cut your emissions."],
    },
  },
  {
    name: "generic praise",
    law: "Directive 2005/29/EC, Annex I, 4a: a generic claim needs its specification beside it, or recognised excellent performance",
    better: "Say what is better, by how much, and than what: “Made of 80 % recycled paper.”",
    patterns: wording(
      `\\bwe are (?:(?:the|a|an|most) )*${GENERIC}`,
      `\\b(?:(?:all )?(?:of )?our (?:[a-z-]+ ){1,5}?|${THIS})${BE} (?:(?:a|an|the|very|more|most|truly) )*${GENERIC}`,
      `${SELL} ${GENERIC} [a-z]+`,
      `^(?:an? )?(?:[a-z]+ for you, )?${GENERIC}(?:, better for you)?(?: (?:choice|[a-z]+ products?)(?: for [a-z ]+)?)?[.!]?$`,
    ),
    // The digit of CO2 specifies nothing.
    unless: /(?<!co ?)\d|%|\b(?:because|since|made (?:of|from|with)|contains?|than|ecolabel|certified|measured)\b|:/i,
    examples: {
      stopped: ["Our boxes are eco-friendly.", "Good for the planet.", "Choose our climate-friendly packaging."],
      passed: [
        "Eco-friendly is a word we avoid.",
        "Our boxes are eco-friendly: 90 % of the fibre is recycled.",
        "Cities pay for environmentally friendly transport.",
      ],
    },
  },
  {
    name: "a whole praised for a part",
    law: "Directive 2005/29/EC, Annex I, 4b: no claim about a whole product that concerns only a part of it",
    better: "Name the part: “The cap is made of recycled plastic.”",
    patterns: wording(
      `\\b(?:${GENERIC}|${NEUTRAL}|greener|green|sustainable)\\b[^,;:]*\\b(?:thanks to|because of|due to|owing to) (?:its|the|our|their) (?:[a-z]+ ){0,2}(?:packaging|box|cap|lid|wrapper|sleeve|label|handle|straw|lining|bag|tray|screws?)\\b`,
    ),
    examples: {
      stopped: ["A green phone thanks to its recycled box.", "Our bottle is sustainable because of its cap."],
      passed: ["The cap of this bottle is made of recycled plastic.", "Our phone is not green because of its box."],
    },
  },
  {
    name: "a label of one's own",
    law: "Directive 2005/29/EC, Annex I, 2a: a sustainability label needs a certification scheme or a public authority",
    better: "Name the scheme and link to it, or show no label.",
    patterns: wording(
      `\\bour (?:very )?(?:own|in-house|self-made) (?:[a-z]+ ){0,2}?(?:eco|green|climate|carbon|planet|nature|sustainab[a-z]+|environmental)[- ]?(?:[a-z]+ ){0,2}?${MARK}\\b`,
      `\\b(?:eco|green|climate|carbon|sustainab[a-z]+|planet)(?:[a-z]*|[- ]${MARK})[- ](?:certified|approved|awarded|verified) by (?:us|ourselves|our (?:own )?team)\\b`,
    ),
    examples: {
      stopped: ["Look for our own green label.", "All credits are climate-certified by us."],
      passed: ["The EU Ecolabel is run by public authorities.", "We do not have our own green label."],
    },
  },
];

/** "Not only" denies nothing, and "at no extra cost" neither. */
const NO_DENIAL = /\bnot (?:only|just|merely)\b|\b(?:no|without) (?:extra|additional|doubt|hassle|fuss|compromise)\b/gi;
const OPEN = new RegExp(
  [
    "\\?\\W*$",
    // Denied.
    "\\b(?:no|not|never|none|nor|neither|nobody|nothing|cannot|without|hardly|rarely|far from|instead|rather)\\b|n't\\b",
    // Defined, reported or discussed.
    "\\b(?:mean\\w*|defin\\w*|term\\w*|words?|phrases?|so-called|call\\w*|claim\\w*|describ\\w*|say|says|said|saying|told|advertis\\w*|labelled|labels|state[sd]?|statement\\w*|suggest\\w*|impl(?:y|ies)|idea|concept|notion|difference|explain\\w*|learn|read|example|such as|mention\\w*|how|what|why|guide|article|steps|ways|tips|stud(?:y|ies)|research\\w*|scientists?|report\\w*|ask\\w*)\\b",
    // Judged.
    "\\b(?:myth|mistake|sorry|regret\\w*|criticis\\w*|mislead\\w*|misled|greenwash\\w*|forb[aio]d\\w*|ban|bans|banned|prohibit\\w*|unlawful|illegal|laws?|lawyers?|directive|regulat\\w*|ruled?|rulings?|courts?|judges?|fined|complain\\w*|authorit\\w*|watchdog|asa|prove|proof|wrong)\\b",
    // Wished, planned, or true under a condition.
    "\\b(?:if|whether|unless|until|would|could|should|might|may|must|needs?|wants?|wanted|aims?|hopes?|planned|targets?|goals?|ambition\\w*|pledg\\w*|committed|intend\\w*|by 20\\d\\d|towards?|before|after|once|when|while|only)\\b",
    // Over.
    "\\b(?:used to|stopped|removed|took|taken|dropped|withdr\\w+|former\\w*|previous\\w*|no longer|ago)\\b",
    // Of others.
    "\\b(?:they|their|he|she|some|many|most (?:firms|companies|airlines|people)|others?|anyone|whoever|competitors?|governments?|countr(?:y|ies)|cit(?:y|ies))\\b",
  ].join("|"),
  "i",
);
const QUOTED = /“[^”]*”|„[^“”]*[“”]|«[^»]*»|"[^"]+"|(?<![^\s(])['‘][^'‘’]{2,}?['’](?=$|[\s.,;:!?)])/g;

/** Null for a sentence that a person has to judge. */
export function forbiddenWording({ text, block, isQuoted }: Sentence): ForbiddenWording | null {
  if (isQuoted) return null;
  const plain = plainText(text.replaceAll(QUOTED, "…"));
  if (OPEN.test(plain.replaceAll(NO_DENIAL, ""))) return null;
  const paragraph = plainText(block);
  const isWrong = ({ patterns, unless }: ForbiddenWording) =>
    !unless?.test(paragraph) && patterns.some((pattern) => pattern.test(plain));
  return FORBIDDEN.find(isWrong) ?? null;
}

/** As the patterns have it: CO₂ is CO2, and there is one hyphen and one apostrophe. */
function plainText(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/[‐-‒−]/g, "-")
    .replaceAll(/[’ʼ]/g, "'");
}
