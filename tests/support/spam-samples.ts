// Sample messages for the test of the spam filter. A message is an opening, a body and a closing. Lessons and tests use different bodies.

const LANGUAGES = {
  English: {
    good: {
      openings: ["Hello,", "Dear team,", "Good morning,", "Hi there, I found your site through a friend."],
      bodies: [
        "we are a small bakery and want to know what it costs to offset our delivery vans for one year.",
        "our family flew to Lisbon in May and we would like to pay for the emissions of the four tickets.",
        "could you send me a quote for 120 tonnes of forestry credits, with the name of the registry?",
        "I am writing a report about our office and need the electricity factor that you use for Ireland.",
        "do you also sell renewable energy certificates for a company with two warehouses?",
        "my invoice from last month shows the wrong company name, please correct it before Friday.",
        "please call me back about the certificate for our wedding guests, any time after lunch is fine.",
        "how long does it take until the credits are retired, and do we receive a document that proves it?",
      ],
      closings: ["Thank you very much.", "Kind regards, Ann", "I look forward to your answer.", "Many thanks!"],
    },
    spam: {
      openings: ["Hello website owner,", "Dear sir or madam,", "Hi, I just visited your website"],
      bodies: [
        "we will bring your page to the first place on Google, buy our ranking package for only $99 today.",
        "get 5000 real followers and backlinks with our promotion, click https://seo-boost.example now.",
        "you have been selected for a business loan up to $500,000 with no credit check, apply now.",
        "earn passive income with our bitcoin robot, 300% profit guaranteed, register here for free.",
        "your domain expires soon, pay the renewal invoice at http://domain-notice.example immediately.",
        "we offer guest posts on high authority sites and thousands of targeted email leads for your niche.",
      ],
      closings: ["Click here to order!", "Reply now for a free audit.", "Unsubscribe at the link below."],
    },
  },
  German: {
    good: {
      openings: ["Guten Tag,", "Sehr geehrte Damen und Herren,", "Hallo,", "Liebes Team,"],
      bodies: [
        "wir sind eine kleine Bäckerei und möchten wissen, was der Ausgleich für unsere Lieferwagen im Jahr kostet.",
        "unsere Familie ist im Mai nach Lissabon geflogen und möchte die Emissionen der vier Flüge ausgleichen.",
        "können Sie mir bitte ein Angebot über 120 Tonnen aus einem Waldprojekt schicken, mit Angabe des Registers?",
        "ich schreibe einen Bericht über unser Büro und brauche den Stromfaktor, den Sie für Österreich verwenden.",
        "verkaufen Sie auch Zertifikate für erneuerbare Energie an ein Unternehmen mit zwei Lagerhallen?",
        "auf der Rechnung vom letzten Monat steht der falsche Firmenname, bitte berichtigen Sie ihn bis Freitag.",
        "bitte rufen Sie mich wegen der Urkunde für unsere Hochzeitsgäste zurück, gern nach dem Mittag.",
        "wie lange dauert es, bis die Gutschriften stillgelegt sind, und bekommen wir darüber einen Nachweis?",
      ],
      closings: [
        "Vielen Dank im Voraus.",
        "Mit freundlichen Grüßen, Anna Weber",
        "Herzliche Grüße",
        "Ich freue mich auf Ihre Antwort.",
      ],
    },
    spam: {
      openings: ["Sehr geehrter Websitebetreiber,", "Guten Tag,", "Hallo, ich habe gerade Ihre Webseite besucht,"],
      bodies: [
        "wir bringen Ihre Seite auf den ersten Platz bei Google, kaufen Sie unser Paket heute für nur 99 €.",
        "holen Sie sich 5000 echte Follower mit unserer Werbung, klicken Sie jetzt auf https://seo-boost.example.",
        "Sie wurden für einen Geschäftskredit bis 500.000 € ohne Schufa ausgewählt, beantragen Sie ihn sofort.",
        "verdienen Sie mit unserem Bitcoin Roboter, 300 Prozent Gewinn garantiert, hier kostenlos anmelden.",
        "Ihre Domain läuft bald ab, zahlen Sie die Rechnung sofort unter http://domain-notice.example.",
        "wir bieten Gastbeiträge auf starken Seiten und tausende Adressen für Ihre Werbung per E-Mail.",
      ],
      closings: [
        "Jetzt hier klicken und bestellen!",
        "Antworten Sie sofort für ein kostenloses Audit.",
        "Abmelden unter dem Link.",
      ],
    },
  },
};

export type Language = keyof typeof LANGUAGES;

/** All messages of a kind in a language, in a fixed order in which bodies change fastest. */
export function sampleMessages(language: Language, kind: "good" | "spam", use: "lessons" | "tests"): string[] {
  const { openings, bodies, closings } = LANGUAGES[language][kind];
  const used = bodies.filter((_, index) => (index % 2 === 0) === (use === "lessons"));
  return openings.flatMap((opening) =>
    closings.flatMap((closing) => used.map((body) => `${opening} ${body} ${closing}`)),
  );
}
