// SPDX-License-Identifier: Apache-2.0

extension MessageCatalog {
    /// The languages that are written in any but Latin letters, by script.
    static let otherScripts: [Row] = [
        // Cyrillic
        ("be", "Ваш код {appName}: {code}.", " Дзейнічае {minutes} хв."),
        ("bg", "Код за {appName}: {code}.", " Валиден {minutes} мин."),
        ("kk", "{appName} кодыңыз: {code}.", " {minutes} минут жарамды."),
        ("mk", "Код за {appName}: {code}.", " Важи {minutes} мин."),
        ("ru", "Ваш код {appName}: {code}.", " Действует {minutes} мин."),
        ("sr", "Код за {appName}: {code}.", " Важи {minutes} мин."),
        ("uk", "Ваш код {appName}: {code}.", " Дійсний {minutes} хв."),

        // Greek, Armenian, Georgian, Ethiopic
        ("am", "{code} የእርስዎ {appName} ኮድ ነው።", " ለ{minutes} ደቂቃ ያገለግላል።"),
        ("el", "Κωδικός {appName}: {code}.", " Ισχύει για {minutes} λεπ."),
        ("hy", "Ձեր {appName} կոդն է՝ {code}։", " Գործում է {minutes} րոպե։"),
        ("ka", "{appName} კოდი: {code}.", " მოქმედებს {minutes} წუთი."),

        // Right to left
        ("ar", "{code} هو رمز {appName} الخاص بك.", " الصلاحية بالدقائق: {minutes}."),
        ("fa", "{code} کد {appName} شماست.", " تا {minutes} دقیقه معتبر است."),
        ("he", "{code} הוא הקוד שלך ל-{appName}.", " תקף ל-{minutes} דק׳."),
        ("ur", "{code} آپ کا {appName} کوڈ ہے۔", " یہ {minutes} منٹ تک کارآمد ہے۔"),

        // India and its neighbours
        ("bn", "{code} আপনার {appName} কোড।", " {minutes} মিনিট পর্যন্ত বৈধ।"),
        ("gu", "{code} તમારો {appName} કોડ છે.", " {minutes} મિનિટ માટે માન્ય."),
        ("hi", "{code} आपका {appName} कोड है।", " {minutes} मिनट तक मान्य।"),
        ("kn", "{code} ನಿಮ್ಮ {appName} ಕೋಡ್.", " {minutes} ನಿಮಿಷ ಮಾನ್ಯ."),
        ("ml", "{code} ആണ് നിങ്ങളുടെ {appName} കോഡ്.", " {minutes} മിനിറ്റ് സാധുവാണ്."),
        ("mr", "{code} हा तुमचा {appName} कोड आहे.", " {minutes} मि. वैध."),
        ("ne", "{code} तपाईंको {appName} कोड हो।", " {minutes} मिनेट मान्य।"),
        ("pa", "{code} ਤੁਹਾਡਾ {appName} ਕੋਡ ਹੈ।", " {minutes} ਮਿੰਟ ਲਈ ਵੈਧ।"),
        ("ta", "{code} உங்கள் {appName} குறியீடு.", " {minutes} நிமி. செல்லும்."),
        ("te", "{code} మీ {appName} కోడ్.", " {minutes} నిమి. చెల్లుతుంది."),

        // East and south-east Asia
        ("ja", "{appName}の認証コード: {code}。", "{minutes}分間有効です。"),
        ("ko", "{appName} 인증번호: {code}.", " {minutes}분간 유효합니다."),
        ("th", "{code} คือรหัส {appName} ของคุณ", " ใช้ได้ {minutes} นาที"),
        ("zh-Hans", "您的 {appName} 验证码是 {code}", "，{minutes} 分钟内有效。"),
        ("zh-Hant", "您的 {appName} 驗證碼是 {code}", "，{minutes} 分鐘內有效。"),
    ]
}
