// Sample messages for the test of the spam filter. A message is an opening, a body and a closing. Lessons and tests use different bodies.

interface Parts {
  openings: readonly string[];
  bodies: readonly string[];
  closings: readonly string[];
}

const LANGUAGES: Readonly<Record<string, { good: Parts; spam: Parts }>> = {
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
        "is it possible to visit one of the projects that you support, and who should I talk to about it?",
        "we heat with oil and plan a heat pump, so which of the two should I enter in your calculator?",
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
        "we design professional logos and explainer videos, limited offer, 70% discount this week only.",
        "buy cheap medicine online without prescription, fast shipping, best price, visit our shop.",
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
        "ist es möglich, eines der Projekte zu besuchen, die Sie unterstützen, und wer ist dafür zuständig?",
        "wir heizen mit Öl und planen eine Wärmepumpe, was soll ich in Ihrem Rechner eintragen?",
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
        "wir gestalten professionelle Logos und Erklärvideos, nur diese Woche mit 70 Prozent Rabatt.",
        "kaufen Sie günstige Medikamente online ohne Rezept, schneller Versand, bester Preis in unserem Shop.",
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
  Chinese: {
    good: {
      openings: ["您好，", "尊敬的团队，", "早上好，", "你们好，朋友推荐了你们的网站。"],
      bodies: [
        "我们是一家小面包店，想知道抵消送货车一年的排放需要多少钱。",
        "我们一家五月飞往里斯本，希望抵消四张机票的碳排放。",
        "请给我一份一百二十吨林业项目的报价，并注明登记机构的名称。",
        "我正在写办公室的报告，需要你们使用的电力排放系数。",
        "你们是否也向有两个仓库的公司出售可再生能源证书？",
        "上个月的发票上公司名称有误，请在星期五之前更正。",
        "可以参观你们支持的项目吗？我应该联系哪一位？",
        "我们用油取暖，打算安装热泵，计算器里应该填写哪一项？",
        "关于婚礼宾客的证明，请下午给我回电话。",
        "信用额度注销需要多长时间，我们会收到证明文件吗？",
      ],
      closings: ["非常感谢。", "此致敬礼，王安娜", "期待您的回复。", "谢谢！"],
    },
    spam: {
      openings: ["尊敬的站长，", "您好，", "你好，我刚刚访问了你的网站，"],
      bodies: [
        "我们让您的网页排名谷歌第一，今天购买套餐只要九十九元。",
        "通过我们的推广获得五千名真实粉丝，马上点击 https://seo-boost.example。",
        "您已获得五十万元无抵押贷款资格，立即申请。",
        "使用我们的比特币机器人赚钱，保证三倍利润，在此免费注册。",
        "专业设计标志和视频，本周限时三折优惠。",
        "网上购买便宜药品，无需处方，快速发货，价格最低。",
        "您的域名即将到期，请立即在 http://domain-notice.example 付款。",
        "我们提供高权重网站文章和数千个邮件营销地址。",
      ],
      closings: ["点击这里订购！", "立即回复获取免费检测。", "点击下面链接退订。"],
    },
  },
};

type Kind = "good" | "spam";
export const SPAM_LANGUAGES = Object.keys(LANGUAGES);

/** All messages of a kind in a language, in a fixed order in which bodies change fastest. */
export function sampleMessages(language: string, kind: Kind, use: "lessons" | "tests"): string[] {
  const { openings, bodies, closings } = LANGUAGES[language]?.[kind] ?? { openings: [], bodies: [], closings: [] };
  const used = bodies.filter((_, index) => (index % 2 === 0) === (use === "lessons"));
  return openings.flatMap((opening) =>
    closings.flatMap((closing) => used.map((body) => `${opening} ${body} ${closing}`)),
  );
}
