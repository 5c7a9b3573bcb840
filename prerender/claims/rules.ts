/**
 * What the check looks for. Data: a rule is changed here, together with its examples, which a test runs. The law behind
 * each is in docs/claims.md.
 */
export interface Rule {
  number: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  name: string;
  level: "error" | "warning";
  /** What is looked for, as the report says it. */
  lookedFor: string;
  reason: string;
  better: string;
  /** Any of them, in a sentence without its quotations. The group `term` is what must be asserted; else the whole match. */
  patterns: readonly RegExp[];
  /** No finding where the clause up to the match has this. */
  notAfter?: RegExp;
  /** What makes the wording acceptable, and where a reader must find it. */
  cleared?: { within: "sentence" | "block"; by?: RegExp; link?: RegExp };
  /** Not found in sentences about the world, a state, other companies. */
  isAboutUs: boolean;
  /** Rules that would only report the same words again. */
  hides: readonly Rule["number"][];
  examples: { found: readonly string[]; notFound: readonly string[] };
}

// The pieces that patterns are made of.

/** What follows "net zero" or "carbon neutral" when those only name a subject. */
const TOPIC =
  "(?![\\s-]*(?:claims?|targets?|goals?|plans?|planning|strateg(?:y|ies)|standards?|guides?|guidance|paths?|pathways?|journeys?|roadmaps?|transition|commitments?|pledges?|promises?|ambitions?|statements?|wording|economy|world|society|future|labels?|badges?|seals?|certificat\\w+|calculators?|programmes?|explained)\\b)";
const NEUTRAL_ADJECTIVE =
  "(?:(?:carbon|climate|co2e?|ghg)[\\s-]*(?:neutral(?!i)|positive|negative|compensated)|emissions?[\\s-](?:neutral(?!i)|compensated))";
const NET_ZERO = `(?:(?:climate[\\s-])?net[\\s-]?zero)${TOPIC}`;
const NEUTRAL = `(?:${NEUTRAL_ADJECTIVE}${TOPIC}|${NET_ZERO})`;
const NEUTRALITY = "(?:(?:carbon|climate|co2)[\\s-]neutrality)";
const BE =
  "(?:\\b(?:am|is|are|was|were|be|been|being|become|becomes|became|becoming|go|goes|going|gone|went|get|gets|getting|stay|stays|staying|remain|remains|turn|turns|turning|turned|run|runs|running|operate|operates|work|works|travel|travels|fly|flies|ship|ships|arrive|arrives|live|lives|drive|drives|considered|(?:count|counts|qualify|qualifies) as)\\b|'re\\b|'s\\b|'m\\b)";
const MAKE = "\\b(?:make|makes|making|made|keep|keeps|render|renders|turn|turns)\\b";
/** Words that may stand between the verb and what it says. */
const BETWEEN =
  "(?: (?!(?:path|way|road|route|journey|goals?|targets?|towards?|to|for|of|about|with|by|in|on|between|what|how|why|whether|if|called|described|before|as|against|than)\\b)[\\w'%,-]+)";
/** Words between "make" and what something is made: whom or what. */
const OBJECT =
  "(?: (?!(?:path|way|road|route|journey|goals?|targets?|towards?|to|about|what|how|why|whether|if|called|described|before|as|against|than)\\b)[\\w'%,-]+)";
export const PRODUCT =
  "(?:products?|services?|goods|deliver(?:y|ies)|shipping|shipments?|parcels?|packag\\w+|hosting|websites?|servers?|flights?|travel|trips?|journeys|holidays?|events?|compan(?:y|ies)|business(?:es)?|firms?|brands?|shops?|orders?|offices?|homes?|households?|living|lifestyles?|coffee|food|clothes|clothing|fuels?|energy|power|electricity|gas|cars?|gifts?|subscriptions?|hotels?|rides?|printing|teams?|you)";
/** Words of the subject, for words and figures that are also used elsewhere. */
const SUBJECT =
  "\\b(?:carbon|climate|co2e?|emissions?|offsets?|offsetting|credits?|footprint|renewable|greenhouse|net[\\s-]?zero|eco\\w*|environment\\w*|sustainab\\w+|recycl\\w+|electricity|energy|power|solar|wind|fossil|coal)\\b";
/** Schemes and registries with public rules and independent checks. That one is named here does not say that it is enough. */
const SCHEME =
  /\b(?:Gold Standard|Verra|VCS|Verified Carbon Standard|Climate Action Reserve|American Carbon Registry|ACR|Plan Vivo|Puro(?:\.earth)?|Isometric|Clean Development Mechanism|CDM|CORSIA|Article 6|Core Carbon Principles|ICVCM|ICROA|Woodland Carbon Code|Peatland Code|I-REC(?:\(E\))?|REGOs?|Guarantees? of Origin|Green-e|EKOenergy|EU Ecolabel|Nordic Swan|Blue Angel|Energy Star|EMAS|ISO ?1\d{4}(?:-\d)?|PAS 2060|Science Based Targets|SBTi|B Corp|FSC|PEFC|BREEAM|LEED)\b/;
const CERTIFICATE =
  "(?:\\b(?:i-)?recs?\\b|\\bregos?\\b|\\bguarantees? of origin\\b|\\b(?:renewable |green |wind |solar )*(?:energy|power|electricity)(?: attribute)? (?:certificates?|credits?)\\b)";
/** Not the noun: "a certified offset". */
const OFFSET_VERB =
  "(?<!\\b(?:carbon|certified|verified|an?|the|your|our|each|every|per) )\\b(?:offset(?:s(?! (?:in|are|is|from|come|have|represent|and|or|do|does)\\b)|ting)?|neutrali[sz](?:e|es|ed|ing)|compensat(?:e|es|ed|ing)(?: for)?|cancel(?:s|led|ling)?(?: out)?|balanc(?:e|es|ed|ing)(?: out)?|makes? up for|making up for|counterbalanc(?:e|es|ed|ing)|eras(?:e|es|ed|ing)|negat(?:e|es|ed|ing)|undo(?:es)?|wip(?:e|es|ed|ing) out)\\b";
const EMISSIONS =
  "\\b(?:emissions?|footprint|carbon|co2e?|tonnes?|tons?|greenhouse gas(?:es)?|impact|flights?|holidays?|trips?|commute|travel|driving|miles|kilomet(?:re|er)s?|pollution|fossil fuels?)\\b";
/** Not "energy credits": those are certificates. */
const CREDITS = "\\b(?:offsets?|offsetting|(?<!\\b(?:energy|power|electricity)(?: attribute)? )credits?)\\b";
/** What offsets cannot do to the emissions of those who buy them. */
const REDUCE =
  "\\b(?:reduc(?:e|es|ed|ing)|lower(?:s|ed|ing)?|cut(?:s|ting)?|shr(?:ink|inks|ank|inking)|decreas(?:e|es|ed|ing)|lessen(?:s|ed|ing)?|slash(?:es|ed|ing)?|halv(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|eliminat(?:e|es|ed|ing)|eras(?:e|es|ed|ing)|neutrali[sz](?:e|es|ed|ing)|negat(?:e|es|ed|ing)|undo(?:es)?|cancel(?:s|led|ling)?(?: out)?|wip(?:e|es|ed|ing) out)\\b";
/** Emissions of those who buy, or of what is sold: reductions elsewhere are what credits are for. */
const BUYERS_EMISSIONS = `(?: [\\w-]+){0,2}? (?:(?:your|our)(?: [\\w'-]+){0,3}? (?:footprint|emissions|impact)|(?:footprint|emissions|impact) of (?:your|our|this|every|each)|(?:this|every|each|an?) ${PRODUCT}'s (?:[\\w-]+ )?(?:footprint|emissions|impact))\\b`;
const ZERO_CARBON = "(?:zero[\\s-](?:carbon|co2|emissions?)|(?:carbon|co2|emissions?)[\\s-]free)";
const YEAR = "(?:the year )?20\\d\\d";
const WILL = "(?:\\b(?:will|shall|going to)\\b|'ll\\b)";
const INTENT =
  "\\b(?:commit(?:s|ted|ting|ments?)?|pledg\\w+|promis\\w+(?! that)|aim\\w*|intend\\w*|vow\\w*|strive\\w*|striving|goals?|targets?|ambitions?|on track|working towards?|work towards?|plan to|want to|set out to)\\b";
const PATH = "\\b(?:path|journey|road|route|on (?:the|our|your|their|its) way|steps?) (?:to|towards?)\\b";
const NUMBER =
  "(?:\\d[\\d.,']*|\\b(?:half|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred|thousand|million|billion)s?)";
const MASS =
  "(?:(?:million|billion|thousand|hundred|metric|a|m|k|bn) ?)*(?:t|kt|mt|gt|kg|g|mg|lbs?|pounds|grams?|grammes?|kilos?|kilograms?|kilotonnes?|megatonnes?|gigatonnes?|tonnes?|tons?)\\b";

const pattern = (source: string) => new RegExp(source, "gi");
/** Only in a sentence that also has a word of the subject, before or after. */
const patternWith = (subject: string, source: string) =>
  pattern(`(?:(?<=${subject}.*)(?:${source})|(?:${source})(?=.*${subject}))`);

export const RULES: readonly Rule[] = [
  {
    number: 1,
    name: "neutral claim",
    level: "error",
    lookedFor:
      "a product, us or you said to be, become or be made carbon or climate neutral, net zero, compensated or positive; offsets said to reduce your emissions",
    reason:
      "Reductions elsewhere do not change a product, and the EU forbids saying so (Directive 2005/29/EC, Annex I, 4c); said of a company it misleads in the same way.",
    better: "Say what happens: “Our credits pay for reductions elsewhere. Your own emissions stay what they are.”",
    patterns: [
      pattern(`${BE}(?:,[^,;:]{1,40},)?${BETWEEN}{0,5} (?<term>${NEUTRAL})`),
      pattern(`${MAKE}${OBJECT}{1,8}(?<!\\b(?:for|of|on|with|between|in)) (?<term>${NEUTRAL})`),
      pattern(
        `(?<!\\b(?:about|term|words?|claims? of|claims?|against|demand for|market for|called) )(?<term>${NEUTRAL})[\\s-]+(?:[\\w-]+ )?${PRODUCT}\\b`,
      ),
      pattern(
        `(?<!\\b(?:about|term|words?|claims? of|claims?|against|demand for|market for|called) )(?<term>${NEUTRAL_ADJECTIVE})(?= (?!(?:is|are|was|means?|and|or|by|in|on|at|for|to|with|when|if|because|thanks|the|a|an|as|that|than|claims?|has|have|must|may|should|goods? and)\\b)[a-z-]+)${TOPIC}`,
      ),
      pattern(
        `^\\W*(?:(?:100 ?%|fully|officially|proudly|now|already|certified|finally) )*(?<term>${NEUTRAL})(?:\\W*$| (?:since|thanks|from|in|at|without|today|now|guaranteed|by default|for)\\b)`,
      ),
      pattern(`: (?<term>${NEUTRAL})\\W*$`),
      pattern(
        `\\b(?:reach|reaches|reached|reaching|achieve|achieves|achieved|achieving|attain|hit|get to|gets? you to)${BETWEEN}{0,3} (?<term>${NEUTRAL}|${NEUTRALITY})[^.;]*\\b(?:credits?|offsets?|offsetting|certificates?|trees?|clicks?|minutes?|instantly|today|overnight)\\b`,
      ),
      pattern(
        "\\b(?<term>(?:neutral|zero|no|positive)(?: [\\w-]+)? (?:(?:climate|carbon|environmental) (?:impact|footprint|effect)|(?:impact|effect) on the (?:climate|planet|environment)|footprint))\\b(?! (?:calculat|data|figure|report|estimate))",
      ),
      patternWith(
        "\\b(?:offset\\w*|credits?)\\b",
        "\\b(?:reduced|lower|smaller|limited) (?:(?:climate|carbon|environmental) (?:impact|footprint|effect)|footprint)\\b",
      ),
      pattern(
        `${CREDITS}(?: (?!(?:and|or|that|which|who|from|for|pays?|funds?|others|you|we|after|before|once|when|while|where|first|then|only)\\b)[\\w'-]+){0,3}? (?<term>${REDUCE})${BUYERS_EMISSIONS}`,
      ),
      pattern(
        `(?<term>${REDUCE})${BUYERS_EMISSIONS}(?: (?!(?:and|or|before|then)\\b)[\\w'%-]+){0,4}? (?:with|by|through|using|via|thanks to)(?: (?!(?:and|or|before|then)\\b)[\\w'-]+){0,3}? ${CREDITS}`,
      ),
      pattern(
        `\\b(?:have|has|had|having|with|causes?|produces?)${BETWEEN}{0,3} (?<term>(?:net[\\s-]?)?zero(?: [\\w-]+)? emissions?)\\b(?! (?:calculat|data|figure|report|estimate|target|goal|plan|vehicle|car|van|zone))`,
      ),
      // Electricity and electric cars may be free of emissions without any offset.
      pattern(
        `(?<term>${ZERO_CARBON})[\\s-]+(?!(?:energy|power|electricity|gas|fuels?|cars?)\\b)(?:[\\w-]+ )?${PRODUCT}\\b`,
      ),
      patternWith("\\b(?:offset\\w*|credits?)\\b", `${BE}${BETWEEN}{0,5} ${ZERO_CARBON}\\b`),
      pattern(
        "\\bwithout (?:(?:a|any|leaving) )*(?:(?:climate|carbon|environmental) )?(?:footprint|climate impact)\\b(?! (?:calculat|data|figure|report|estimate))",
      ),
      pattern(
        `\\b(?!(?:teams?|you|compan\\w+|business\\w*|firms?|brands?|shops?)\\b)${PRODUCT} (?:is|are|was|were|gets?|has been|have been|comes?)(?: \\w+)? (?<term>compensated|neutrali[sz]ed)\\b`,
      ),
    ],
    notAfter: new RegExp(`${PATH}|^(?!.*\\b(?:you|your)\\b).*(?:${WILL}|${INTENT}|\\bby ${YEAR})`, "i"),
    isAboutUs: true,
    hides: [4, 5],
    examples: {
      found: [
        "We are climate-positive.",
        "Our credits make your shop carbon neutral.",
        "We help you become CO2-neutral.",
        "CO<sub>2</sub>&#8209;neutral printing",
        "Carbon neutral since 2019",
        "We are “carbon neutral”.",
        "Reach net zero today with our credits.",
        "We are proud to say that our parcels are climate neutral.",
        "India's first carbon neutral hotel",
        "Carbon neutral parcels across Europe",
        "With our credits your coffee has no climate impact.",
        "Our credits shrink the footprint of your office.",
        "Cut your emissions with our offsets.",
        "The parcel is compensated.",
        "The UK's cheapest zero-carbon hosting",
      ],
      notFound: [
        "We are not yet carbon neutral.",
        "We are anything but carbon neutral.",
        "There is no carbon footprint calculator yet.",
        "Carbon neutral means that emissions and removals balance.",
        "Your path to net zero",
        "Is your shop carbon neutral?",
        "He wrote: “We are carbon neutral.”",
        "No product, service or person becomes climate neutral by paying.",
        "Cut your emissions before you pay for credits.",
        "Buy credits after you cut your emissions.",
        "Our credits reduce emissions in Kenya.",
        "The country wants to be carbon neutral.",
      ],
    },
  },
  {
    number: 2,
    name: "generic word",
    level: "warning",
    lookedFor:
      "green, eco, clean, climate friendly, sustainable and the like, without saying in the same sentence what is meant",
    reason: "A general word promises excellent performance in everything, and then needs proof of it.",
    better: "Name the fact instead of the virtue: “solar and wind power” instead of “clean power”.",
    patterns: [
      pattern(
        "(?<![\\w-])green(?:er|est)?(?!-e\\b)(?! (?:button|light|line|dot|tick|frame|box|colou?r|belt|paper|tea|paint|ink|background|text|banner|field|arrow|web foundation|claims|deal|climate fund|(?:power |energy )?certificates?)\\b)(?![\\w-]*house)\\b",
      ),
      pattern(
        "\\beco(?:logical(?:ly)?|[\\s-]?(?:friendly|conscious|aware|responsible|safe|smart|positive))?\\b(?!-?label)",
      ),
      pattern(
        "\\b(?:environment(?:ally)?|climate|planet|nature|earth|carbon)[\\s-](?:friendly|conscious|aware|safe|sound|responsible|correct|smart)\\b",
      ),
      pattern(
        "\\b(?:sav(?:e|es|ing)|lov(?:e|es|ing)|treat|help(?:s|ing)?|heal(?:s|ing)?) (?:the |our )?(?:planet|environment|climate|earth|nature)\\b",
      ),
      pattern(
        "\\b(?:good|better|kind|kinder|gentle|gentler|great|love) (?:for|to|on|the) (?:the |our )?(?:planet|environment|climate|earth|nature)\\b",
      ),
      pattern(
        "\\bclean(?:er|est)? (?:energy|power|electricity|fuels?|tech(?:nology)?|future|choice|travel|transport|alternative|option|way|deliver\\w+|planet|living|growth)\\b",
      ),
      pattern(
        "\\bsustainabl[ey] (?:products?|services?|choices?|options?|compan\\w+|business\\w*|brands?|travel|energy|power|deliver\\w+|shipping|packaging|solutions?|partner|way|living|lifestyle|manner)\\b|\\b(?:is|are|be|truly|fully|more|most) sustainable\\b(?! (?:future|development))",
      ),
      pattern(`\\blow(?:er)?[\\s-]carbon ${PRODUCT}\\b`),
    ],
    cleared: {
      within: "sentence",
      by: new RegExp(
        `\\b(?:solar|wind|hydro\\w*|geothermal|tidal|biogas|heat pumps?|recycled|refilled|reused|because|which means|by which we mean|measured|\\d[\\d.,]*(?: ?%| (?:kg|g|t|tonnes?|kwh|mwh)\\b))|${SCHEME.source}`,
        "i",
      ),
    },
    isAboutUs: false,
    hides: [],
    examples: {
      found: ["A greener way to travel.", "Eco hosting for everybody.", "We deliver clean power."],
      notFound: [
        "Solar and wind power for your factory.",
        "Green power from a wind farm in Tamil Nadu.",
        "The greenhouse effect was found in the 19th century.",
        "Invest in a sustainable future.",
        "“Green” says little.",
      ],
    },
  },
  {
    number: 3,
    name: "label without its scheme",
    level: "error",
    lookedFor: "a seal, badge, label or “certified” without the scheme behind it",
    reason:
      "A sustainability label must rest on a certification scheme or a public authority (Directive 2005/29/EC, Annex I, 2a).",
    better:
      "Name the scheme and where to look it up: “issued under the Gold Standard, with serial numbers in its registry”.",
    patterns: [
      patternWith(
        `(?:${SUBJECT}|\\b(?:neutral|green|projects?|forests?|trees|farms?|products?|compan(?:y|ies)|business(?:es)?)\\b)`,
        "\\bcertif(?:ied|ication)\\b(?! (?:cop(?:y|ies)|mail|post|accountants?|translations?|electricians?|engineers?|true|lawyers?|bod(?:y|ies)|schemes?)\\b)",
      ),
      pattern(`(?:${SUBJECT}|\\b(?:neutral|green)\\b)[\\w-]*(?: [\\w-]+){0,2} labels?\\b|\\beco-?labels?\\b`),
      pattern(
        "\\b(?:our|a|the|this) labels? (?:on|for) (?:your|the|every) (?:products?|packag\\w+|shop|website|parcels?)\\b",
      ),
      // "The seal of the contract" is no label, "the seal of the Climate Alliance" is one.
      pattern(
        `\\b(?:seals?|badges?|quality marks?)\\b(?! (?:the|it|your|an?) )(?! of (?:the|an?|your|our|this) (?!.*${SUBJECT}))`,
      ),
    ],
    cleared: { within: "block", by: SCHEME },
    isAboutUs: false,
    hides: [],
    examples: {
      found: [
        "Get certified as a net-zero company.",
        "A green label for your shop.",
        "Wear our badge.",
        "The seal of the Climate Alliance",
        "Our label on your packaging",
      ],
      notFound: [
        "The project is certified by Plan Vivo.",
        "Send a certified copy of the contract.",
        "We issue no seal.",
        "Choose a label for your energy account.",
        "Seal the envelope.",
        "The seal of a letter",
      ],
    },
  },
  {
    number: 4,
    name: "promise without a plan",
    level: "error",
    lookedFor:
      "a promise to be net zero or neutral later (“by 2030”, “will be”, “our 2030 promise”) without a link to the plan",
    reason:
      "A claim about future performance needs a public, detailed and realistic plan that others verify (Directive 2005/29/EC, Article 6(2)(d)).",
    better: "Link the plan in the same paragraph, or say only what is done now.",
    patterns: [
      pattern(
        `\\b(?:by|before|until|from) (?:the end of )?(?:${YEAR}|the decade)\\b.{0,80}?(?<term>${NEUTRAL}|${NEUTRALITY})`,
      ),
      pattern(
        `(?<term>${NEUTRAL}|${NEUTRALITY}).{0,60}?\\b(?:by|before|until|from|in) (?:about )?(?:the end of )?(?:${YEAR}|(?:the|this) decade)\\b`,
      ),
      pattern(
        `${WILL}(?: \\w+){0,2}? (?:be|become|reach|achieve|hit|go|get to|have reached|make)\\b.{0,40}?(?<term>${NEUTRAL}|${NEUTRALITY})`,
      ),
      pattern(`(?<=\\b(?:we|our|us|group|company)\\b.*)${INTENT}.{0,60}?(?<term>${NEUTRAL}|${NEUTRALITY})`),
      pattern(
        `\\bour (?:[\\w-]+ )?20\\d\\d (?:${NEUTRAL_ADJECTIVE}|net[\\s-]?zero|${NEUTRALITY})[\\s-](?:promises?|pledges?|commitments?|targets?|goals?|ambitions?)\\b`,
      ),
      pattern(`(?<term>${NEUTRAL}|${NEUTRALITY}) 20\\d\\d\\b(?! (?:scenarios?|pathways?|reports?|studies|study)\\b)`),
    ],
    cleared: { within: "block", link: /\b(?:plan|roadmap|pathway|strategy|targets?)\b/i },
    isAboutUs: true,
    hides: [5],
    examples: {
      found: [
        "We will be carbon neutral soon.",
        "Net zero by 2035",
        "Our ambition is net zero.",
        "Our 2035 climate neutral pledge",
        "Climate neutral 2035",
        "We will be net zero by 2040: <a href='#'>our plan</a>.",
      ],
      notFound: [
        "We want to be net zero by 2040: <a href='/plan'>our plan</a>.",
        "India aims for net zero by 2070.",
        "We will help you with your net-zero plan.",
        "We do not promise net zero by 2030.",
      ],
    },
  },
  {
    number: 5,
    name: "offset without its basis",
    level: "warning",
    lookedFor: "neutral or offset wording without saying in the same block what it rests on",
    reason: "A reader must see at once that reductions elsewhere are meant, and which.",
    better: "Add the basis: “by paying for reductions elsewhere, in wind and solar projects”.",
    patterns: [
      pattern(NEUTRALITY),
      pattern(NEUTRAL_ADJECTIVE + TOPIC),
      pattern(`${OFFSET_VERB}(?: [\\w'-]+){0,5}? ${EMISSIONS}`),
      pattern(
        "(?<!carbon )\\boffset(?:s|ting)? (?:your|our|their|its|my|every|each|all|everything|any|the|what|it|one)\\b",
      ),
      pattern(
        "(?:\\b(?:is|are|was|were|been|be|gets?|fully|completely|automatically|100 ?%)|'re|'s) (?:\\w+ )?(?:offset|neutralised|neutralized|compensated(?! for (?:\\w+ing|(?:the|their|your|any) (?:time|work|loss|damage))\\b)|balanced out|cancelled out)\\b",
      ),
      pattern(
        "\\b(?:remov|eliminat|eras|undo|wip)(?:e|es|ing)?(?: out| away)? (?:your|our|their|its|the) (?:[\\w-]+ ){0,2}footprint\\b",
      ),
      pattern(`\\bcarbon[\\s-]offset(?:ted)? ${PRODUCT}\\b`),
      pattern("\\bwe (?:\\w+ly )?(?:offset|compensate|neutralise)\\W*$"),
      pattern("\\bcompensate(?:s|d)? (?:for )?(?:your|our|every|each|all|the)\\b"),
    ],
    notAfter: new RegExp(PATH, "i"),
    cleared: {
      within: "block",
      by: new RegExp(
        `\\b(?:elsewhere|credits? (?:from|pay|pays|fund|funds|that|which|bought|retired)|(?:carbon|verified) credits?|(?:fund|pay|support|retir|financ|invest|plant|restor|protect)ing\\b|(?:solar|wind|hydro|forest\\w*|reforestation|cookstoves?|biochar|peat\\w*|mangroves?|landfill|methane|removals?))|${SCHEME.source}`,
        "i",
      ),
    },
    isAboutUs: true,
    hides: [],
    examples: {
      found: [
        "We offset your emissions.",
        "Neutralize your footprint.",
        "Carbon-offset flights",
        "Balance your emissions.",
      ],
      notFound: [
        "Carbon Offsetting Made Easy",
        "Offset what remains: your money funds cookstoves, which leaves forests standing.",
        "We balance the emissions that remain with reductions elsewhere.",
      ],
    },
  },
  {
    number: 6,
    name: "figure without a source",
    level: "warning",
    lookedFor: "a number with CO2 or % about the environment without a source in the same block",
    reason: "A figure must be verifiable where it is read.",
    better: "Name the source or link the calculation, with its year and what it covers.",
    patterns: [
      pattern(
        `${NUMBER}(?: [a-z]+)?(?: (?:a|of))? ?${MASS}(?: of)?(?: [\\w-]+){0,2}? (?:co2(?:e|-?eq)?|carbon|greenhouse gas(?:es)?|emissions?)\\b`,
      ),
      pattern(`\\bco2(?:e|-?eq)?\\b[^.;]{0,40}?${NUMBER} ?${MASS}`),
      // "100% carbon neutral" is no figure that a source could prove.
      patternWith(SUBJECT, `\\d[\\d.,]* ?(?:%|per ?cent\\b)(?! ${NEUTRAL_ADJECTIVE}| ${NET_ZERO})`),
    ],
    cleared: {
      within: "block",
      // "Your estimate" is what readers computed themselves, where the sources are.
      by: /\b(?:your estimate (?:is|was|went)|according to|sources?:|based on|(?:measured|counted|calculated|computed|estimated|reported|verified|published) (?:by|with|under|in)|IPCC|IEA|Ember|DEFRA|DESNZ|EPA|GHG Protocol|Sustainable Web Design)\b|\bcredits?\b[^.]{0,40}\b(?:stands? for|represents?|equals?|is|are)\b[^.]{0,20}\b(?:one|1|a) (?:metric )?(?:tonne|ton|t)\b/i,
      link: /^https?:|\b(?:reports?|sources?|data|methods?|methodology|stud(?:y|ies)|figures?|evidence|calculat\w+|inventory|measure\w*|count\w*)\b|^\W*\d+\W*$/i,
    },
    isAboutUs: false,
    hides: [],
    examples: {
      found: [
        "Every order saves 2 kg of CO2.",
        "Cement causes 7% of emissions.",
        "CO<sub>2</sub> savings of 5 tonnes",
        "Save one tonne of CO2 with each order.",
      ],
      notFound: [
        "One credit stands for one tonne of CO2e.",
        "We answer 95% of messages within a day.",
        "Our parcels are 100% carbon neutral.",
        "Your estimate is about 900 kg CO2e a year.",
        "Our site caused 3 kg CO2e, <a href='/report'>as our report shows</a>.",
      ],
    },
  },
  {
    number: 7,
    name: "certificate said to offset",
    level: "error",
    lookedFor: "an energy certificate said to offset, reduce or equal tonnes or emissions",
    reason: "A certificate says where a megawatt-hour came from. It is no tonne that was reduced, so it offsets none.",
    better: "Keep them apart: “Certificates cover the electricity you use; credits pay for reductions elsewhere.”",
    patterns: [
      pattern(
        `${CERTIFICATE}(?: (?!(?:and|or|while|credits?|carbon)\\b)[\\w'-]+){0,4}? (?<term>${OFFSET_VERB})(?: [\\w'-]+){0,6}? ${EMISSIONS}`,
      ),
      pattern(
        `(?<term>${OFFSET_VERB})(?: (?!(?:carbon|offset) credits?)[\\w',-]+){0,8}? (?:with|by|through|using|via)(?: [\\w'-]+){0,5}? ${CERTIFICATE}`,
      ),
      // Certificates do lower what is reported for scope 2.
      pattern(
        `${CERTIFICATE}(?: (?!(?:and|or|while|credits?|carbon|that|which|from)\\b)[\\w'-]+){0,4}? (?<term>${REDUCE}|\\b(?:equals?|is equal to|stands? for|represents?|is worth|saves?|avoids?)\\b)(?: [\\w'-]+){0,6}? (?:footprint|emissions?|carbon|co2e?|tonnes?|tons?)\\b(?!.*\\bscope 2\\b)`,
      ),
    ],
    isAboutUs: false,
    hides: [5],
    examples: {
      found: [
        "Our energy certificates offset your emissions.",
        "Cancel out your flights with RECs.",
        "Power certificates cut your footprint.",
      ],
      notFound: [
        "Energy certificates do not offset emissions.",
        "Carbon offsetting and renewable energy credits",
        "RECs lower the emissions that you report in scope 2.",
        "Buy energy certificates for your electricity and carbon credits for the rest.",
      ],
    },
  },
];
