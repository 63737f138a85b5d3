// SPDX-License-Identifier: Apache-2.0

extension EmailWording {
    /// Slavic, Baltic, Finno-Ugric and Balkan languages.
    static let easternEurope: [EmailWording] = [
        EmailWording(
            "be",
            title: "Пацвердзіце свой адрас электроннай пошты",
            link: "Адкрыйце гэту спасылку, каб працягнуць. Яна дзейнічае {minutes} хв.",
            button: "Працягнуць",
            code: "Або ўвядзіце гэты код: {code} (дзейнічае {minutes} хв).",
            ignore: "Калі гэта былі не вы, не звяртайце ўвагі на гэты ліст."
        ),
        EmailWording(
            "bg",
            title: "Потвърдете имейл адреса си",
            link: "Отворете този линк, за да продължите. Валиден е {minutes} мин.",
            button: "Продължаване",
            code: "Или въведете този код: {code} (валиден {minutes} мин.).",
            ignore: "Ако не сте били вие, не обръщайте внимание на този имейл."
        ),
        EmailWording(
            "bs",
            title: "Potvrdite svoju e-mail adresu",
            link: "Otvorite ovaj link da nastavite. Vrijedi {minutes} min.",
            button: "Nastavi",
            code: "Ili unesite ovaj kod: {code} (vrijedi {minutes} min).",
            ignore: "Ako to niste bili vi, zanemarite ovaj e-mail."
        ),
        EmailWording(
            "cs",
            title: "Potvrďte svou e-mailovou adresu",
            link: "Pokračujte otevřením tohoto odkazu. Platí {minutes} min.",
            button: "Pokračovat",
            code: "Nebo zadejte tento kód: {code} (platí {minutes} min).",
            ignore: "Pokud jste to nebyli vy, tento e-mail ignorujte."
        ),
        EmailWording(
            "el",
            title: "Επιβεβαιώστε τη διεύθυνση email σας",
            link: "Ανοίξτε αυτόν τον σύνδεσμο για να συνεχίσετε. Ισχύει για {minutes} λεπ.",
            button: "Συνέχεια",
            code: "Ή εισαγάγετε αυτόν τον κωδικό: {code} (ισχύει για {minutes} λεπ.).",
            ignore: "Αν δεν ήσασταν εσείς, αγνοήστε αυτό το email."
        ),
        EmailWording(
            "et",
            title: "Kinnita oma e-posti aadress",
            link: "Jätkamiseks ava see link. See kehtib {minutes} min.",
            button: "Jätka",
            code: "Või sisesta see kood: {code} (kehtib {minutes} min).",
            ignore: "Kui see polnud sina, eira seda kirja."
        ),
        EmailWording(
            "fi",
            title: "Vahvista sähköpostiosoitteesi",
            link: "Jatka avaamalla tämä linkki. Se on voimassa {minutes} min.",
            button: "Jatka",
            code: "Tai anna tämä koodi: {code} (voimassa {minutes} min).",
            ignore: "Jos tämä et ollut sinä, jätä tämä viesti huomiotta."
        ),
        EmailWording(
            "hr",
            title: "Potvrdite svoju adresu e-pošte",
            link: "Otvorite ovu poveznicu da biste nastavili. Vrijedi {minutes} min.",
            button: "Nastavi",
            code: "Ili unesite ovaj kod: {code} (vrijedi {minutes} min).",
            ignore: "Ako to niste bili vi, zanemarite ovu poruku."
        ),
        EmailWording(
            "hu",
            title: "Erősítse meg az e-mail-címét",
            link: "A folytatáshoz nyissa meg ezt a linket. {minutes} percig érvényes.",
            button: "Folytatás",
            code: "Vagy írja be ezt a kódot: {code} ({minutes} percig érvényes).",
            ignore: "Ha nem Ön kérte, hagyja figyelmen kívül ezt az e-mailt."
        ),
        EmailWording(
            "lt",
            title: "Patvirtinkite savo el. pašto adresą",
            link: "Norėdami tęsti, atidarykite šią nuorodą. Ji galioja {minutes} min.",
            button: "Tęsti",
            code: "Arba įveskite šį kodą: {code} (galioja {minutes} min.).",
            ignore: "Jei tai buvote ne jūs, nekreipkite dėmesio į šį laišką."
        ),
        EmailWording(
            "lv",
            title: "Apstipriniet savu e-pasta adresi",
            link: "Lai turpinātu, atveriet šo saiti. Tā ir derīga {minutes} min.",
            button: "Turpināt",
            code: "Vai ievadiet šo kodu: {code} (derīgs {minutes} min.).",
            ignore: "Ja tas nebijāt jūs, ignorējiet šo e-pastu."
        ),
        EmailWording(
            "mk",
            title: "Потврдете ја вашата е-адреса",
            link: "Отворете ја оваа врска за да продолжите. Важи {minutes} мин.",
            button: "Продолжи",
            code: "Или внесете го овој код: {code} (важи {minutes} мин.).",
            ignore: "Ако не бевте вие, игнорирајте ја оваа порака."
        ),
        EmailWording(
            "pl",
            title: "Potwierdź swój adres e-mail",
            link: "Otwórz ten link, aby kontynuować. Link jest ważny {minutes} min.",
            button: "Kontynuuj",
            code: "Lub wpisz ten kod: {code} (ważny {minutes} min).",
            ignore: "Jeśli to nie Ty, zignoruj tę wiadomość."
        ),
        EmailWording(
            "ru",
            title: "Подтвердите адрес электронной почты",
            link: "Откройте эту ссылку, чтобы продолжить. Она действует {minutes} мин.",
            button: "Продолжить",
            code: "Или введите этот код: {code} (действует {minutes} мин).",
            ignore: "Если это были не вы, не обращайте внимания на это письмо."
        ),
        EmailWording(
            "sk",
            title: "Potvrďte svoju e-mailovú adresu",
            link: "Pokračujte otvorením tohto odkazu. Platí {minutes} min.",
            button: "Pokračovať",
            code: "Alebo zadajte tento kód: {code} (platí {minutes} min).",
            ignore: "Ak ste to neboli vy, tento e-mail ignorujte."
        ),
        EmailWording(
            "sl",
            title: "Potrdite svoj e-poštni naslov",
            link: "Za nadaljevanje odprite to povezavo. Velja {minutes} min.",
            button: "Nadaljuj",
            code: "Ali vnesite to kodo: {code} (velja {minutes} min).",
            ignore: "Če to niste bili vi, prezrite to sporočilo."
        ),
        EmailWording(
            "sq",
            title: "Konfirmoni adresën tuaj të email-it",
            link: "Hapni këtë lidhje për të vazhduar. Vlen për {minutes} min.",
            button: "Vazhdo",
            code: "Ose shkruani këtë kod: {code} (vlen për {minutes} min).",
            ignore: "Nëse nuk ishit ju, shpërfilleni këtë email."
        ),
        EmailWording(
            "sr",
            title: "Потврдите своју имејл адресу",
            link: "Отворите овај линк да бисте наставили. Важи {minutes} мин.",
            button: "Настави",
            code: "Или унесите овај код: {code} (важи {minutes} мин).",
            ignore: "Ако то нисте били ви, занемарите овај имејл."
        ),
        EmailWording(
            "sr-Latn",
            title: "Potvrdite svoju imejl adresu",
            link: "Otvorite ovaj link da biste nastavili. Važi {minutes} min.",
            button: "Nastavi",
            code: "Ili unesite ovaj kod: {code} (važi {minutes} min).",
            ignore: "Ako to niste bili vi, zanemarite ovaj imejl."
        ),
        EmailWording(
            "uk",
            title: "Підтвердьте свою електронну адресу",
            link: "Відкрийте це посилання, щоб продовжити. Воно дійсне {minutes} хв.",
            button: "Продовжити",
            code: "Або введіть цей код: {code} (дійсний {minutes} хв).",
            ignore: "Якщо це були не ви, не зважайте на цей лист."
        ),
    ]
}
