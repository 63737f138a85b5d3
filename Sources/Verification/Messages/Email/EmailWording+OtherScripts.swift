// SPDX-License-Identifier: Apache-2.0

extension EmailWording {
    /// The languages of the Caucasus, the Near East, Africa and East Asia in scripts of their own.
    static let otherScripts: [EmailWording] = [
        EmailWording(
            "am",
            title: "የኢሜይል አድራሻዎን ያረጋግጡ",
            link: "ለመቀጠል ይህን አገናኝ ይክፈቱ። ለ{minutes} ደቂቃ ያገለግላል።",
            button: "ይቀጥሉ",
            code: "ወይም ይህን ኮድ ያስገቡ፦ {code} (ለ{minutes} ደቂቃ ያገለግላል)።",
            ignore: "ይህ እርስዎ ካልነበሩ ይህን ኢሜይል ችላ ይበሉ።"
        ),
        EmailWording(
            "ar",
            title: "تأكيد عنوان بريدك الإلكتروني",
            link: "افتح هذا الرابط للمتابعة. الصلاحية بالدقائق: {minutes}.",
            button: "متابعة",
            code: "أو أدخل هذا الرمز: {code} (الصلاحية بالدقائق: {minutes}).",
            ignore: "إذا لم تكن أنت من طلب ذلك، فتجاهل هذه الرسالة."
        ),
        EmailWording(
            "fa",
            title: "نشانی ایمیل خود را تأیید کنید",
            link: "برای ادامه این پیوند را باز کنید. تا {minutes} دقیقه معتبر است.",
            button: "ادامه",
            code: "یا این کد را وارد کنید: {code} (تا {minutes} دقیقه معتبر است).",
            ignore: "اگر شما نبودید، این ایمیل را نادیده بگیرید."
        ),
        EmailWording(
            "he",
            title: "אימות כתובת האימייל שלך",
            link: "יש לפתוח את הקישור הזה כדי להמשיך. הוא תקף ל-{minutes} דק׳.",
            button: "המשך",
            code: "אפשר גם להזין את הקוד הזה: {code} (תקף ל-{minutes} דק׳).",
            ignore: "אם לא ביקשת זאת, אפשר להתעלם מההודעה."
        ),
        EmailWording(
            "hy",
            title: "Հաստատեք Ձեր էլ. փոստի հասցեն",
            link: "Շարունակելու համար բացեք այս հղումը։ Այն գործում է {minutes} րոպե։",
            button: "Շարունակել",
            code: "Կամ մուտքագրեք այս կոդը՝ {code} (գործում է {minutes} րոպե)։",
            ignore: "Եթե դա Դուք չէիք, անտեսեք այս նամակը։"
        ),
        EmailWording(
            "ja",
            title: "メールアドレスの確認",
            link: "続けるには、このリンクを開いてください。有効期間は{minutes}分です。",
            button: "続ける",
            code: "または、このコードを入力してください: {code}（{minutes}分間有効）",
            ignore: "お心当たりがない場合は、このメールを無視してください。"
        ),
        EmailWording(
            "ka",
            title: "დაადასტურეთ თქვენი ელფოსტის მისამართი",
            link: "გასაგრძელებლად გახსენით ეს ბმული. ის მოქმედებს {minutes} წუთი.",
            button: "გაგრძელება",
            code: "ან შეიყვანეთ ეს კოდი: {code} (მოქმედებს {minutes} წუთი).",
            ignore: "თუ ეს თქვენ არ იყავით, უგულებელყავით ეს წერილი."
        ),
        EmailWording(
            "kk",
            title: "Электрондық пошта мекенжайыңызды растаңыз",
            link: "Жалғастыру үшін осы сілтемені ашыңыз. Ол {minutes} минут жарамды.",
            button: "Жалғастыру",
            code: "Немесе мына кодты енгізіңіз: {code} ({minutes} минут жарамды).",
            ignore: "Бұл сіз болмасаңыз, осы хатқа мән бермеңіз."
        ),
        EmailWording(
            "ko",
            title: "이메일 주소 확인",
            link: "계속하려면 이 링크를 여세요. {minutes}분간 유효합니다.",
            button: "계속",
            code: "또는 다음 코드를 입력하세요: {code} ({minutes}분간 유효).",
            ignore: "본인이 요청하지 않았다면 이 이메일을 무시하세요."
        ),
        EmailWording(
            "th",
            title: "ยืนยันที่อยู่อีเมลของคุณ",
            link: "เปิดลิงก์นี้เพื่อดำเนินการต่อ ลิงก์ใช้ได้ {minutes} นาที",
            button: "ดำเนินการต่อ",
            code: "หรือป้อนรหัสนี้: {code} (ใช้ได้ {minutes} นาที)",
            ignore: "หากไม่ใช่คุณ โปรดละเว้นอีเมลนี้"
        ),
        EmailWording(
            "ur",
            title: "اپنے ای میل پتے کی تصدیق کریں",
            link: "جاری رکھنے کے لیے یہ لنک کھولیں۔ یہ {minutes} منٹ تک کارآمد ہے۔",
            button: "جاری رکھیں",
            code: "یا یہ کوڈ درج کریں: {code} ({minutes} منٹ تک کارآمد)۔",
            ignore: "اگر یہ آپ نہیں تھے تو اس ای میل کو نظر انداز کریں۔"
        ),
        EmailWording(
            "zh-Hans",
            title: "确认您的电子邮件地址",
            link: "打开此链接以继续。链接在 {minutes} 分钟内有效。",
            button: "继续",
            code: "或输入此验证码：{code}（{minutes} 分钟内有效）。",
            ignore: "如果不是您本人操作，请忽略此邮件。"
        ),
        EmailWording(
            "zh-Hant",
            title: "確認您的電子郵件地址",
            link: "開啟此連結以繼續。連結在 {minutes} 分鐘內有效。",
            button: "繼續",
            code: "或輸入此驗證碼：{code}（{minutes} 分鐘內有效）。",
            ignore: "如果不是您本人操作，請忽略此郵件。"
        ),
    ]
}
