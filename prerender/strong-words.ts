// Wording that is a claim about the environment. A text is searched in lower case, without accents, and with one space
// for each run of spaces and hyphens: ` ?` also finds words that are written together.

export interface StrongWords {
  words: RegExp;
  /** The sentence must also match this. */
  with?: RegExp;
  why: string;
  /** The article that forbids the wording. */
  law?: string;
  /** A sentence that says something checkable instead. */
  better?: string;
}

const DIRECTIVE = "Directive 2005/29/EC, Annex I";
const OFFSETTING = {
  law: `${DIRECTIVE}, 4c: a claim, based on offsetting, that a product has a neutral, reduced or positive impact on the climate is unfair in all circumstances`,
  better:
    "We have retired 120 credits for this event. They pay for reductions elsewhere, and do not change what the event emits.",
};
const GENERIC = {
  why: "praise without a specification",
  law: `${DIRECTIVE}, 4a: a generic environmental claim without recognised excellent performance is unfair in all circumstances`,
  better: "Each credit stands for one tonne that the project avoided in 2025, according to its registry.",
};
const PRAISE = "praise without a specification";
const SOURCE = "which source, in which year, by which certificates?";
const ABSOLUTE = "absolute: almost nothing has none";
const RESULT = "a figure or a result needs a source";
const COMPARISON =
  /(?<![a-z])[\d#{]|%|\b(less|fewer|low|lower|lowest|least|reduc\w*|cuts?|cutting|halv\w*|half|save[ds]?|saving\w*|small(er|est)?|shrink\w*|slash\w*|light|lighter|limit\w*|zero|no|without|free|avoid\w*|better|best|clean\w*|than|eras\w*|cancel\w*|balanc\w*|remov\w*|captur\w*|absorb\w*|wip\w*|undo|eliminat\w*|prevent\w*|positive|negative)\b/;

export const STRONG_WORDS: readonly StrongWords[] = [
  { words: /\w*neutral\w*|\bneutrali\w*/g, why: "says that nothing is left to count" },
  {
    words:
      /\b(carbon|climate|co2\w*|ghg|greenhouse ?gas|emission\w*) ?((neutral|positive|negative|compensat)\w*|(net ?)?zero\b)|\b(net ?)?zero ?(carbon|co2\w*|emission\w*)|\b(reduced|lower) ?climate ?impact\b|\b(limited|reduced) ?(co2\w*|carbon) ?footprint\b|\b(no|zero) ?climate ?impact\b/g,
    why: "says that a product or a company has no effect, or a good one, on the climate",
    ...OFFSETTING,
  },
  {
    words:
      /\bcancel\w* ?(out|your|the)\b|\beras\w*|\bwip\w* ?(out|away|your)\b|\bundo(es|ing)?\b|\b(mak\w*|made) ?up ?for\b|\bmak\w* ?good\b|\bzero ?out\b/g,
    with: /\b(emission\w*|emit\w*|footprint\w*|carbon|co2\w*|climate|impact\w*|flight\w*|trip\w*|travel\w*|pollut\w*)/,
    why: "says that harm was made good",
    ...OFFSETTING,
  },
  { words: /\bnet ?(zero|0)\b/g, why: "a goal that needs a public plan with dates" },
  {
    words:
      /\bzero ?(waste|impact|footprint|harm)\b|\b(impact|footprint|waste|harm) ?free\b|\bharmless\w*|\bno ?footprint\b/g,
    why: ABSOLUTE,
  },
  {
    words:
      /\b(leav\w*|left)( \w+)? ?(no|without|nothing|not) ?(an? )?(\w+ )?(trace|mark|scar|residue|behind)\w*|\btrace ?less\w*|\bspotless\w*|\bwithout ?(a ?)?trace\b|\bno ?(harm|damage) ?done\b/g,
    why: ABSOLUTE,
  },
  { words: /\b(carbon|co2\w*|emission\w*) ?free\b|\bcarbonless\b|\bemissionless\b|\bcarbon ?light\b/g, why: ABSOLUTE },
  {
    words: /\blow(er)? ?(carbon|emission\w*)|\blow ?(impact|energy|footprint)\b|\bultra ?low\b/g,
    why: "lower than what?",
  },
  {
    words:
      /\w*compensat\w*|\b(balanced|evened|squared)\b|\b(is|are|now|all) ?(gone|even|square)\b|^gone\b|\b(clean|blank) ?slate\b|\bcancel\w* ?each ?other\b/g,
    why: "says that harm was made good",
  },
  { words: /\w*offset\w*/g, why: "readers take it for a cut of their own emissions" },
  { words: /\bdecarbon\w*/g, why: "a goal that needs a plan with dates" },
  {
    words:
      /\b(eco|environment\w*|(planet|earth|climate|nature|carbon|co2\w*|ocean|forest|ozone|bee)('s)?) ?friend\w*|\b(good|better|best|safe) ?for ?(the ?|our ?)?(planet|earth|environment|climate|nature|world)\b|\b(kind(er)?|gentle) ?(on|to) ?(the ?|our ?)?(planet|earth|environment|climate|nature|world)\b|\beasy ?on ?(the ?|our ?)?(planet|earth|environment|climate|nature|world)\b|\bfriend\w* ?(of|to) ?(the ?|our ?)?(planet|earth|environment|climate|nature|world)\b|\b(respect|sav)\w* ?(the ?|our ?)?(planet|earth|environment|climate|nature|world)\b|\benvironment\w* ?(correct|safe|sound|conscious\w*|responsib\w*|superior)|\b(eco ?(conscious|responsib)|(climate|earth) ?conscious|ecological)\w*/g,
    ...GENERIC,
  },
  { words: /\beco\b|\w*ecolog\w*|\beco ?(label|system|conscious|design)\w*|\bbio\b/g, why: PRAISE },
  {
    words: /\bgreen(s|er|est|ing|ly|ness|wash\w*|tech\w*)?\b|\bevergreen\b/g,
    why: "green as praise says nothing that can be checked",
  },
  { words: /\w*sustain\w*/g, why: "the widest claim of all" },
  {
    words:
      /\bplanet\w*|\bearth(s|'s|friend\w*)?\b|\bmother ?nature\b|\bworld's ?future\b|\bcosts? ?the ?(world|earth)\b/g,
    why: "speaks for the whole planet",
  },
  { words: /\benviro\w*/g, why: "says that something is good or bad for the environment" },
  { words: /\bclimate\w*/g, why: "says that something is good or bad for the climate" },
  { words: /\w*renewable\w*/g, why: SOURCE },
  {
    words: /\bclean(er|est|ly|tech\w*)?\b|\bclean ?(energy|power|(electric|fuel|tech)\w*)/g,
    why: "no energy is clean over its whole life",
  },
  {
    words: /\b100 ?(%|percent|per ?cent)|\b(fully|entirely|only|completely|totally)\b/g,
    with: /\b(energy|(electric|power|organic|bio|hydro)\w*|solar|wind|natural)\b/,
    why: "absolute: all of it, always?",
  },
  {
    words:
      /\b(solar|wind|hydro|green) ?power\w*|\bpowered ?by ?(the ?sun|sunshine|wind|nature)\b|\bgreen ?(energy|electric\w*)/g,
    why: "all the time, or on balance over a year?",
  },
  {
    words:
      /\bwind( ?(farm|turbine)\w*|mill\w*)?\b|\b(solar|photovoltaic|hydro|geothermal|biogas|biomass|biomethane|biodiesel|nuclear|wood ?pellet)\w*|\btidal\b|\bwave ?power\b|\bsun(light|shine)\b/g,
    why: SOURCE,
  },
  { words: /\bfossil\w*|\bwithout ?(coal|oil|gas)\b|\b(coal|oil) ?free\b/g, why: "absolute, or a comparison" },
  {
    words: /\b(energy|fuel) ?(efficien|sav)\w*|\b(resource|climate) ?efficien\w*|\bwater ?sav\w*/g,
    why: "more efficient than what?",
  },
  {
    words: /\w*recycl\w*|\b(upcycl|reus|refill|repurpos)\w*/g,
    why: "which part, and is it collected where the customer lives?",
  },
  {
    words:
      /\bmade ?(from|of|with) ?recycl\w*|\b(100 ?(%|percent|per ?cent)|fully) ?recycl\w*|\bmade ?(with|from) ?renewable\w*/g,
    why: "praises the whole for a part of it",
    law: `${DIRECTIVE}, 4b: a claim about the whole product or business that is true of a part only is unfair in all circumstances`,
    better: "The projects behind 40 % of our credits are wind farms. The registry lists the others.",
  },
  { words: /\w*degradab\w*|\bdegrades\b|\w*biodegrad\w*|\w*compost\w*/g, why: "where, and how long does it take?" },
  {
    words: /\bplastics? ?free\b|\bfree ?(of|from) ?plastic\w*|\bmicroplastic\w*|\bocean ?plastic\w*/g,
    why: "also the lining and the packaging?",
  },
  {
    words:
      /\bplastic\w*|\blandfill\b|\bsingle ?use\b|\bwaste\b|\bemission\w*|\bemit(s|ted|ting)?\b|\w*footprint\w*|\bcarbon\b|\bco2\w*|\bgreenhouse\w*|\bmethane\b|\bdioxide\b|\bghg\b|\bimpact\w*/g,
    with: COMPARISON,
    why: "a figure or a comparison needs a source",
  },
  {
    words:
      /\d[\d.,]* ?((metric|million|thousand|megatons?) ?)*(t|tons?|tonnes?|kilotonnes?|credits?|hectares?|ha|acres?|trees?|seedlings?|saplings?)\b|\b(seedlings?|saplings?|hectares?)\b|\bcars ?off\b/g,
    why: RESULT,
  },
  {
    words:
      /\b(two|three|four|five|six|seven|eight|nine|ten|hundreds?|thousands?|millions?) ?(of ?)?(tons?|tonnes?|credits?|hectares?|trees?|seedlings?|saplings?)\b/g,
    with: /\b(for|per|each|every|plant\w*|protect\w*|retir\w*|remov\w*|sav\w*|month|year|day)\b/,
    why: RESULT,
  },
  {
    words:
      /\bbio ?based\b|\bbioplastic\w*|\bplant ?based\b|\borganic\w*|\b(all|100 ?%) ?natural\b|\bnaturally\b|\bnature\b/g,
    why: "which share, by which standard?",
  },
  {
    words:
      /\b(non ?)?toxic\w*|\bchemical ?free\b|\b(pollut|contaminat|exhaust|chimney|smog|fume)\w*|\b(without|no|less) ?smoke\b|\bsmoke ?(free|less)\b|\b(fresh|clear)(er)? ?(air|sk(y|ies))\b|\bbreathe\w*( \w+)? ?(easier|easily|better|again)\b/g,
    why: "absolute, or a comparison",
  },
  { words: /\b(circular|regenerat|restor|reviv|heal)\w*|\bclosed ?loop\b/g, why: PRAISE },
  {
    words: /\b(conscious|ethical|guilt|mindful)\w*|\b(good|clear|clean|easy|light) ?conscience\b|\bresponsibly\b/g,
    why: PRAISE,
  },
  {
    words: /\bresponsib\w*/g,
    with: /\b(environment|climate|sustain|social|sourc|travel|choice|brand|produc)\w*|\b(planet|earth|nature|green)\b/,
    why: PRAISE,
  },
  {
    words: /\bdurable\b|\bdurability\b|\b(repairab|reparab|obsolescen)\w*|\blong ?lasting\b/g,
    why: "for how long, tested how?",
  },
  {
    words:
      /\b(by|until|before) ?(20[\d#{]\S*|the ?end ?of ?the ?decade\b)|\b(commit|pledg|promis|ambition|target|roadmap|journey)\w*|\bon ?track\b|\bon ?its ?way\b/g,
    with: /\b(emission\w*|net ?zero|zero|neutral\w*|carbon|co2\w*|climate|footprint\w*|renewable\w*|plastic\w*|green|sustain\w*)/,
    why: "a claim about the future needs a public plan with dates that an expert has checked",
  },
  {
    words: /\belectric ?(car|vehicle)\w*|\bevs?\b|\bheat ?pump\w*/g,
    with: COMPARISON,
    why: "compared with what, on which grid?",
  },
  { words: /\w*sequest\w*|\bcarbon ?(removal|captur|stor|sink|lock)\w*/g, why: "how much, for how long?" },
  {
    words:
      /\btrees?\b|\w*forest\w*|\b(mangrove|peat|seagrass|moor|wetland|marsh|meadow|kelp|jungle)(s|land\w*)?\b|\bsoil ?carbon\b/g,
    why: "how many, where, and who looks after them?",
  },
  {
    words:
      /\b(biodivers|rewild|habitat|coral|ocean|glacier|iceberg)\w*|\bwildlife\b|\b(polar ?bear|whale|turtle|penguin|orang ?utan)s?\b|\bnature ?positive\b|\breef ?safe\b|\bspecies\b/g,
    why: "which species or area, measured how?",
  },
  {
    words:
      /\b(certif|accredit|verif)\w*|\b(audited|assured ?by|vetted)\b|\b(highest|top|best) ?(mark|grade|rating|score)s?\b/g,
    why: "by whom, by which scheme?",
  },
  {
    words: /\bindependent\w*|\bthird ?part(y|ies)\b/g,
    with: /\b(credit|project|standard|check|test|prov|claim|assess|review)\w*|\bproof\b/,
    why: "by whom, by which scheme?",
  },
  {
    words: /\badditionality\b|\bpermanence\b|\bhigh ?(integrity|quality)\b|\b(premium|best|gold) ?credit\w*/g,
    why: "by which rating, of which project?",
  },
  {
    words:
      /\b(sylvera|bezero|calyx|msci|sustainalytics|ecovadis|moody's|cdp|carbon ?disclosure ?project|carbon ?trust|climate ?partner|south ?pole|sgs|dnv|tuv|bureau ?veritas|lloyd's ?register|intertek|kpmg|deloitte|pwc|ernst ?&? ?young|ey|s&p|fitch|ftse4good|renoster|gri)\b|\b(rated|rating|scored) ?(of ?)?[abc]{2,3}\b/g,
    why: "which rating, of what, on which day? The owner of the name sets rules for its use",
  },
  {
    words: /\b(own|in ?house|our) ?(label|seal)\b|\b(own|our) ?(badge|certificate\w*)|\bcertified ?by ?us\b/g,
    why: "a label without a certification scheme behind it",
    law: `${DIRECTIVE}, 2a: a sustainability label without a certification scheme or a public authority behind it is unfair in all circumstances`,
    better: "These credits are issued under Gold Standard. Their serial numbers are in its registry.",
  },
  {
    words: /\blabell?(s|ed)?\b|\bseals?\b|\bbadges?\b|\beco ?label\w*/g,
    why: "a label needs a certification scheme behind it",
  },
  {
    words:
      /\bgold ?standard\b|\bverra\b|\bvcs\b|\bplan ?vivo\b|\bsbti\b|\bscience ?based\b|\biso ?14\w*|\bpas ?2060\b|\bb ?corp\w*|\bfsc\b|\bpefc\b|\benergy ?star\b|\bblue ?angel\b|\beu ?flower\b/g,
    why: "the owner of the name sets rules for its use",
  },
  {
    words: /\bparis ?(agreement|aligned|compatible)\b|\b1\.5 ?(°c|degree\w*|aligned)|\besg\b/g,
    why: "a goal that needs a plan with dates",
  },
  {
    words:
      /\b(better|brighter) ?future\b|\bbetter ?(world|tomorrow)\b|\b(future|next|coming) ?generation\w*|\bgrand ?children\b|\bour ?children\b|\bmake ?a ?difference\b|\bdo ?your ?(bit|part)\b/g,
    why: "a promise that nobody can check",
  },
  { words: /♻|🌍|🌎|🌏|🌱|🌿|🍃|🌳|🌲|💚/gu, why: "a picture can claim as much as a word" },
];
