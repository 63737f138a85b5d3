// SPDX-License-Identifier: Apache-2.0

extension EmailWording {
    /// Germanic and Romance languages, and their neighbours.
    static let westernEurope: [EmailWording] = [
        EmailWording(
            "ca",
            title: "Confirma la teva adreça electrònica",
            link: "Obre aquest enllaç per continuar. Caduca d’aquí a {minutes} min.",
            button: "Continua",
            code: "O introdueix aquest codi: {code} (vàlid durant {minutes} min).",
            ignore: "Si no has estat tu, ignora aquest correu."
        ),
        EmailWording(
            "da",
            title: "Bekræft din e-mailadresse",
            link: "Åbn dette link for at fortsætte. Det udløber om {minutes} min.",
            button: "Fortsæt",
            code: "Eller indtast denne kode: {code} (gælder i {minutes} min.).",
            ignore: "Hvis det ikke var dig, kan du se bort fra denne e-mail."
        ),
        EmailWording(
            "de",
            title: "Bestätige deine E-Mail-Adresse",
            link: "Öffne diesen Link, um fortzufahren. Er ist {minutes} Min. gültig.",
            button: "Weiter",
            code: "Oder gib diesen Code ein: {code} (gültig für {minutes} Min.).",
            ignore: "Wenn du das nicht warst, ignoriere diese E-Mail."
        ),
        EmailWording(
            "es",
            title: "Confirma tu dirección de correo electrónico",
            link: "Abre este enlace para continuar. Caduca en {minutes} min.",
            button: "Continuar",
            code: "O introduce este código: {code} (válido durante {minutes} min).",
            ignore: "Si no has sido tú, ignora este correo."
        ),
        EmailWording(
            "eu",
            title: "Berretsi zure helbide elektronikoa",
            link: "Ireki esteka hau jarraitzeko. Balio-epea: {minutes} min.",
            button: "Jarraitu",
            code: "Edo idatzi kode hau: {code} (balio-epea: {minutes} min).",
            ignore: "Zu izan ez bazara, ez egin kasurik mezu honi."
        ),
        EmailWording(
            "fr",
            title: "Confirmez votre adresse e-mail",
            link: "Ouvrez ce lien pour continuer. Il expire dans {minutes} min.",
            button: "Continuer",
            code: "Ou saisissez ce code : {code} (valable {minutes} min).",
            ignore: "Si ce n’était pas vous, ignorez cet e-mail."
        ),
        EmailWording(
            "gl",
            title: "Confirma o teu enderezo de correo electrónico",
            link: "Abre esta ligazón para continuar. Caduca en {minutes} min.",
            button: "Continuar",
            code: "Ou introduce este código: {code} (válido durante {minutes} min).",
            ignore: "Se non fuches ti, ignora este correo."
        ),
        EmailWording(
            "is",
            title: "Staðfestu netfangið þitt",
            link: "Opnaðu þennan tengil til að halda áfram. Hann gildir í {minutes} mín.",
            button: "Halda áfram",
            code: "Eða sláðu inn þennan kóða: {code} (gildir í {minutes} mín.).",
            ignore: "Ef þetta varst ekki þú skaltu hunsa þennan póst."
        ),
        EmailWording(
            "it",
            title: "Conferma il tuo indirizzo email",
            link: "Apri questo link per continuare. Scade tra {minutes} min.",
            button: "Continua",
            code: "Oppure inserisci questo codice: {code} (valido per {minutes} min).",
            ignore: "Se non sei stato tu a richiederlo, ignora questa email."
        ),
        EmailWording(
            "nb",
            title: "Bekreft e-postadressen din",
            link: "Åpne denne lenken for å fortsette. Den utløper om {minutes} min.",
            button: "Fortsett",
            code: "Eller skriv inn denne koden: {code} (gyldig i {minutes} min).",
            ignore: "Hvis dette ikke var deg, kan du se bort fra denne e-posten."
        ),
        EmailWording(
            "nl",
            title: "Bevestig je e-mailadres",
            link: "Open deze link om door te gaan. De link is {minutes} min. geldig.",
            button: "Doorgaan",
            code: "Of voer deze code in: {code} ({minutes} min. geldig).",
            ignore: "Was jij dit niet? Negeer dan deze e-mail."
        ),
        EmailWording(
            "pt",
            title: "Confirme o seu endereço de e-mail",
            link: "Abra esta ligação para continuar. Expira dentro de {minutes} min.",
            button: "Continuar",
            code: "Ou introduza este código: {code} (válido durante {minutes} min).",
            ignore: "Se não foi você, ignore este e-mail."
        ),
        EmailWording(
            "pt-BR",
            title: "Confirme seu endereço de e-mail",
            link: "Abra este link para continuar. Ele expira em {minutes} min.",
            button: "Continuar",
            code: "Ou digite este código: {code} (válido por {minutes} min).",
            ignore: "Se não foi você, ignore este e-mail."
        ),
        EmailWording(
            "ro",
            title: "Confirmă adresa ta de e-mail",
            link: "Deschide acest link pentru a continua. Expiră în {minutes} min.",
            button: "Continuă",
            code: "Sau introdu acest cod: {code} (valabil {minutes} min.).",
            ignore: "Dacă nu ai fost tu, ignoră acest e-mail."
        ),
        EmailWording(
            "sv",
            title: "Bekräfta din e-postadress",
            link: "Öppna den här länken för att fortsätta. Den går ut om {minutes} min.",
            button: "Fortsätt",
            code: "Eller ange den här koden: {code} (giltig i {minutes} min).",
            ignore: "Om det inte var du kan du bortse från det här mejlet."
        ),
    ]
}
