// Sample messages in several languages, for the bench and for the test of the spam filter. A message is an opening, a
// body and a closing. Lessons and tests use different bodies.

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
  French: {
    good: {
      openings: ["Bonjour,", "Madame, Monsieur,", "Bonjour à toute l’équipe,", "Bonsoir,"],
      bodies: [
        "nous sommes une petite boulangerie et voulons savoir combien coûte la compensation de nos camionnettes pour un an.",
        "notre famille a pris l’avion pour Lisbonne en mai et souhaite compenser les émissions des quatre billets.",
        "pourriez-vous m’envoyer un devis pour 120 tonnes d’un projet forestier, avec le nom du registre ?",
        "j’écris un rapport sur nos bureaux et j’ai besoin du facteur d’électricité que vous utilisez pour la Belgique.",
        "vendez-vous aussi des certificats d’énergie renouvelable à une entreprise avec deux entrepôts ?",
        "la facture du mois dernier porte un mauvais nom de société, merci de la corriger avant vendredi.",
        "est-il possible de visiter un des projets que vous soutenez, et à qui dois-je m’adresser ?",
        "nous chauffons au fioul et prévoyons une pompe à chaleur, que dois-je saisir dans votre calculateur ?",
        "merci de me rappeler au sujet de l’attestation pour les invités de notre mariage, plutôt l’après-midi.",
        "combien de temps faut-il pour que les crédits soient annulés, et recevons-nous un document ?",
      ],
      closings: ["Merci beaucoup.", "Cordialement, Anne Martin", "Dans l’attente de votre réponse.", "Bien à vous"],
    },
    spam: {
      openings: ["Cher propriétaire du site,", "Bonjour,", "Bonjour, je viens de visiter votre site,"],
      bodies: [
        "nous plaçons votre page en première position sur Google, achetez notre offre aujourd’hui pour 99 €.",
        "obtenez 5000 vrais abonnés avec notre publicité, cliquez sur https://seo-boost.example maintenant.",
        "vous avez été choisi pour un prêt jusqu’à 500 000 € sans justificatif, faites votre demande tout de suite.",
        "gagnez un revenu passif avec notre robot bitcoin, 300 % de profit garanti, inscription gratuite ici.",
        "nous créons des logos et des vidéos professionnels, remise de 70 % cette semaine seulement.",
        "achetez des médicaments pas chers en ligne sans ordonnance, livraison rapide, meilleur prix.",
        "votre domaine expire bientôt, payez la facture immédiatement sur http://domain-notice.example.",
        "nous vendons des articles invités sur des sites puissants et des milliers d’adresses pour vos campagnes.",
      ],
      closings: [
        "Cliquez ici pour commander !",
        "Répondez vite pour un audit gratuit.",
        "Désabonnement par le lien ci-dessous.",
      ],
    },
  },
  Spanish: {
    good: {
      openings: ["Buenos días:", "Hola,", "Estimado equipo:", "Buenas tardes,"],
      bodies: [
        "somos una panadería pequeña y queremos saber cuánto cuesta compensar nuestras furgonetas durante un año.",
        "nuestra familia voló a Lisboa en mayo y quiere compensar las emisiones de los cuatro billetes.",
        "¿podrían enviarme un presupuesto de 120 toneladas de un proyecto forestal, con el nombre del registro?",
        "escribo un informe sobre nuestra oficina y necesito el factor de electricidad que usan para Portugal.",
        "¿venden también certificados de energía renovable a una empresa con dos almacenes?",
        "la factura del mes pasado tiene mal el nombre de la empresa, corríjanla antes del viernes, por favor.",
        "¿es posible visitar uno de los proyectos que apoyan, y con quién tengo que hablar?",
        "calentamos con gasóleo y pensamos en una bomba de calor, ¿qué debo poner en su calculadora?",
        "llámenme por el certificado para los invitados de nuestra boda, mejor después de comer.",
        "¿cuánto tarda la retirada de los créditos, y recibimos un documento que lo demuestre?",
      ],
      closings: ["Muchas gracias.", "Un saludo cordial, Ana García", "Quedo a la espera de su respuesta.", "Saludos"],
    },
    spam: {
      openings: ["Estimado dueño del sitio:", "Hola,", "Hola, acabo de visitar su página web,"],
      bodies: [
        "ponemos su página en el primer lugar de Google, compre nuestro paquete hoy por solo 99 €.",
        "consiga 5000 seguidores reales con nuestra publicidad, haga clic en https://seo-boost.example ahora.",
        "usted ha sido elegido para un préstamo de hasta 500.000 € sin aval, solicítelo ahora mismo.",
        "gane dinero con nuestro robot de bitcoin, 300 % de beneficio garantizado, regístrese gratis aquí.",
        "diseñamos logotipos y vídeos profesionales, solo esta semana con 70 % de descuento.",
        "compre medicamentos baratos en línea sin receta, envío rápido, el mejor precio en nuestra tienda.",
        "su dominio caduca pronto, pague la factura de inmediato en http://domain-notice.example.",
        "ofrecemos artículos en sitios con autoridad y miles de direcciones para sus campañas de correo.",
      ],
      closings: [
        "¡Haga clic aquí para comprar!",
        "Responda ya para una auditoría gratis.",
        "Baja en el enlace de abajo.",
      ],
    },
  },
  Polish: {
    good: {
      openings: ["Dzień dobry,", "Szanowni Państwo,", "Witam,", "Dzień dobry całemu zespołowi,"],
      bodies: [
        "jesteśmy małą piekarnią i chcemy wiedzieć, ile kosztuje roczna kompensacja naszych samochodów dostawczych.",
        "nasza rodzina leciała w maju do Lizbony i chcemy zrównoważyć emisje z czterech biletów.",
        "czy mogą Państwo przysłać ofertę na 120 ton z projektu leśnego, z nazwą rejestru?",
        "piszę raport o naszym biurze i potrzebuję współczynnika energii, którego używacie dla Czech.",
        "czy sprzedajecie także certyfikaty energii odnawialnej firmie z dwoma magazynami?",
        "na fakturze z zeszłego miesiąca jest zła nazwa firmy, proszę ją poprawić do piątku.",
        "czy można odwiedzić jeden z projektów, które wspieracie, i z kim mam o tym rozmawiać?",
        "ogrzewamy dom olejem i planujemy pompę ciepła, co mam wpisać w kalkulatorze?",
        "proszę oddzwonić w sprawie zaświadczenia dla gości weselnych, najlepiej po południu.",
        "jak długo trwa umorzenie jednostek i czy dostaniemy dokument, który to potwierdza?",
      ],
      closings: ["Dziękuję bardzo.", "Z poważaniem, Anna Kowalska", "Czekam na odpowiedź.", "Pozdrawiam"],
    },
    spam: {
      openings: ["Drogi właścicielu strony,", "Dzień dobry,", "Witam, właśnie odwiedziłem waszą stronę,"],
      bodies: [
        "wprowadzimy stronę na pierwsze miejsce w Google, kup nasz pakiet dziś za jedyne 99 zł.",
        "zdobądź 5000 prawdziwych obserwujących dzięki naszej reklamie, kliknij https://seo-boost.example teraz.",
        "wybraliśmy cię do kredytu do 500 000 zł bez sprawdzania, złóż wniosek natychmiast.",
        "zarabiaj z naszym robotem bitcoin, 300 % zysku gwarantowane, zarejestruj się tutaj za darmo.",
        "projektujemy profesjonalne logo i filmy, tylko w tym tygodniu 70 % taniej.",
        "kupuj tanie leki online bez recepty, szybka wysyłka, najlepsza cena w naszym sklepie.",
        "twoja domena wkrótce wygaśnie, zapłać fakturę natychmiast na http://domain-notice.example.",
        "oferujemy artykuły na mocnych stronach i tysiące adresów do kampanii reklamowych.",
      ],
      closings: [
        "Kliknij tutaj i zamów!",
        "Odpisz teraz, aby dostać darmowy audyt.",
        "Wypisz się pod linkiem poniżej.",
      ],
    },
  },
  Russian: {
    good: {
      openings: ["Здравствуйте!", "Добрый день!", "Уважаемые коллеги,", "Доброе утро!"],
      bodies: [
        "мы небольшая пекарня и хотим узнать, сколько стоит компенсация выбросов наших фургонов за год.",
        "наша семья летала в мае в Лиссабон и хочет компенсировать выбросы от четырёх билетов.",
        "пришлите, пожалуйста, предложение на 120 тонн из лесного проекта с названием реестра.",
        "я пишу отчёт о нашем офисе, и мне нужен коэффициент для электричества, который вы используете.",
        "продаёте ли вы сертификаты возобновляемой энергии компании с двумя складами?",
        "в счёте за прошлый месяц указано неверное название фирмы, исправьте его, пожалуйста, до пятницы.",
        "можно ли посетить один из проектов, которые вы поддерживаете, и с кем об этом говорить?",
        "мы отапливаем дом дизелем и планируем тепловой насос, что указать в вашем калькуляторе?",
        "перезвоните мне по поводу справки для гостей нашей свадьбы, лучше после обеда.",
        "как долго идёт погашение единиц и получим ли мы документ, который это подтверждает?",
      ],
      closings: ["Большое спасибо.", "С уважением, Анна Иванова", "Жду вашего ответа.", "Всего доброго!"],
    },
    spam: {
      openings: ["Уважаемый владелец сайта!", "Здравствуйте!", "Привет, я посетил ваш сайт,"],
      bodies: [
        "выведем вашу страницу на первое место в Google, купите наш пакет сегодня всего за 990 рублей.",
        "получите 5000 живых подписчиков с нашей рекламой, нажмите https://seo-boost.example сейчас.",
        "вам одобрен кредит до 500 000 рублей без проверки, подайте заявку немедленно.",
        "зарабатывайте с нашим биткоин роботом, 300 % прибыли гарантировано, регистрация здесь бесплатно.",
        "делаем логотипы и ролики, только на этой неделе скидка 70 %.",
        "купите дешёвые лекарства онлайн без рецепта, быстрая доставка, лучшая цена в нашем магазине.",
        "ваш домен скоро истекает, срочно оплатите счёт на http://domain-notice.example.",
        "предлагаем статьи на сильных сайтах и тысячи адресов для вашей рассылки.",
      ],
      closings: [
        "Нажмите здесь и закажите!",
        "Ответьте сейчас и получите бесплатный аудит.",
        "Отписаться по ссылке ниже.",
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
  Japanese: {
    good: {
      openings: ["こんにちは。", "ご担当者様、", "はじめまして。", "お世話になっております。"],
      bodies: [
        "小さなパン屋ですが、配達車の一年分の排出を相殺する費用を知りたいです。",
        "家族で五月にリスボンへ飛びました。四人分の航空券の排出を相殺したいと思います。",
        "森林プロジェクト百二十トンの見積書を、登録機関の名前と一緒に送っていただけますか。",
        "事務所の報告書を書いており、御社が使っている電力の係数が必要です。",
        "倉庫が二つある会社にも再生可能エネルギーの証書を販売していますか。",
        "先月の請求書の会社名が間違っています。金曜日までに訂正をお願いします。",
        "支援されているプロジェクトを見学することはできますか。どなたに相談すればよいでしょうか。",
        "灯油で暖房しており、ヒートポンプを検討中です。計算機には何を入力すればよいですか。",
        "結婚式の招待客のための証明書について、午後にお電話をいただけますか。",
        "クレジットの無効化にはどのくらいかかりますか。証明の書類は届きますか。",
      ],
      closings: ["よろしくお願いいたします。", "ありがとうございます。", "お返事をお待ちしております。", "佐藤"],
    },
    spam: {
      openings: ["サイト運営者様、", "こんにちは。", "貴社のホームページを拝見しました。"],
      bodies: [
        "検索で一位に表示させます。今日だけ九千九百円で購入できます。",
        "本物のフォロワーを五千人獲得。今すぐ https://seo-boost.example をクリック。",
        "審査なしで五百万円まで融資が可能です。今すぐお申し込みください。",
        "ビットコインの自動売買で稼げます。三倍の利益を保証、無料登録はこちら。",
        "ロゴと動画を制作します。今週限定で七割引き。",
        "処方箋なしで薬を安く通販。即日発送、最安値のお店です。",
        "ドメインの期限が切れます。すぐに http://domain-notice.example でお支払いください。",
        "強力なサイトへの記事掲載と、数千件のメール広告用リストを提供します。",
      ],
      closings: ["ここをクリックして注文！", "今すぐ返信で無料診断。", "配信停止は下のリンクから。"],
    },
  },
};

export type Kind = "good" | "spam";
export const SPAM_LANGUAGES = Object.keys(LANGUAGES);

/** All messages of a kind in a language, in a fixed order in which bodies change fastest. */
export function sampleMessages(language: string, kind: Kind, use: "lessons" | "tests"): string[] {
  const { openings, bodies, closings } = LANGUAGES[language]?.[kind] ?? { openings: [], bodies: [], closings: [] };
  const used = bodies.filter((_, index) => (index % 2 === 0) === (use === "lessons"));
  return openings.flatMap((opening) =>
    closings.flatMap((closing) => used.map((body) => `${opening} ${body} ${closing}`)),
  );
}
