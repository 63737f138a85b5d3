// SPDX-License-Identifier: Apache-2.0

extension EmailWording {
    /// The other languages in Latin letters.
    static let otherLatin: [EmailWording] = [
        EmailWording(
            "af",
            title: "Bevestig jou e-posadres",
            link: "Maak hierdie skakel oop om voort te gaan. Dit is {minutes} min. geldig.",
            button: "Gaan voort",
            code: "Of voer hierdie kode in: {code} ({minutes} min. geldig).",
            ignore: "As dit nie jy was nie, ignoreer hierdie e-pos."
        ),
        EmailWording(
            "az",
            title: "E-poçt ünvanınızı təsdiqləyin",
            link: "Davam etmək üçün bu keçidi açın. O, {minutes} dəqiqə etibarlıdır.",
            button: "Davam et",
            code: "Və ya bu kodu daxil edin: {code} ({minutes} dəqiqə etibarlıdır).",
            ignore: "Bunu siz etməmisinizsə, bu məktubu nəzərə almayın."
        ),
        EmailWording(
            "fil",
            title: "Kumpirmahin ang iyong email address",
            link: "Buksan ang link na ito para magpatuloy. Valid ito nang {minutes} min.",
            button: "Magpatuloy",
            code: "O ilagay ang code na ito: {code} (valid nang {minutes} min).",
            ignore: "Kung hindi ikaw ito, huwag pansinin ang email na ito."
        ),
        EmailWording(
            "id",
            title: "Konfirmasi alamat email Anda",
            link: "Buka tautan ini untuk melanjutkan. Tautan berlaku selama {minutes} menit.",
            button: "Lanjutkan",
            code: "Atau masukkan kode ini: {code} (berlaku selama {minutes} menit).",
            ignore: "Jika ini bukan Anda, abaikan email ini."
        ),
        EmailWording(
            "ms",
            title: "Sahkan alamat e-mel anda",
            link: "Buka pautan ini untuk teruskan. Pautan ini sah selama {minutes} minit.",
            button: "Teruskan",
            code: "Atau masukkan kod ini: {code} (sah selama {minutes} minit).",
            ignore: "Jika ini bukan anda, abaikan e-mel ini."
        ),
        EmailWording(
            "sw",
            title: "Thibitisha anwani yako ya barua pepe",
            link: "Fungua kiungo hiki ili uendelee. Kinatumika kwa dakika {minutes}.",
            button: "Endelea",
            code: "Au weka msimbo huu: {code} (unatumika kwa dakika {minutes}).",
            ignore: "Ikiwa si wewe, puuza barua pepe hii."
        ),
        EmailWording(
            "tr",
            title: "E-posta adresinizi onaylayın",
            link: "Devam etmek için bu bağlantıyı açın. Bağlantı {minutes} dakika geçerlidir.",
            button: "Devam et",
            code: "Veya şu kodu girin: {code} ({minutes} dakika geçerlidir).",
            ignore: "Bu işlemi siz yapmadıysanız bu e-postayı dikkate almayın."
        ),
        EmailWording(
            "uz",
            title: "Elektron pochta manzilingizni tasdiqlang",
            link: "Davom etish uchun ushbu havolani oching. U {minutes} daqiqa amal qiladi.",
            button: "Davom etish",
            code: "Yoki ushbu kodni kiriting: {code} ({minutes} daqiqa amal qiladi).",
            ignore: "Agar bu siz bo‘lmasangiz, ushbu xatga e’tibor bermang."
        ),
        EmailWording(
            "vi",
            title: "Xác nhận địa chỉ email của bạn",
            link: "Mở liên kết này để tiếp tục. Liên kết có hiệu lực trong {minutes} phút.",
            button: "Tiếp tục",
            code: "Hoặc nhập mã này: {code} (có hiệu lực trong {minutes} phút).",
            ignore: "Nếu không phải bạn, hãy bỏ qua email này."
        ),
    ]
}
