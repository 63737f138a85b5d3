// SPDX-License-Identifier: Apache-2.0

/// CLDR's table of languages whose texts are looked up under a key other than the tag.
///
/// From CLDR 39: `languageAlias` of supplementalMetadata.xml, the languages of languageMatching in languageInfo.xml,
/// and likelySubtags.xml. Matches with English are omitted: a tenant's default language is sent instead.
enum LanguageTable {
    /// The canonical tag of a language code: two letters for three, replacements of deprecated codes, macrolanguages of
    /// members.
    static let aliases: [String: String] = dictionary(aliasRows)

    /// The script of a language in a region that writes it differently from others, by `language-REGION`.
    static let scripts: [String: String] = dictionary(scriptRows)

    /// The texts in other languages that a language's readers understand, by language, the closest first.
    ///
    /// The first script is the language's usual one.
    static let nearest: [String: [Match]] = rows(nearestRows).reduce(into: [:]) { table, row in
        let script = String(row[1])
        for language in row.dropFirst(2) {
            table[String(language), default: []].append(Match(script: script, key: String(row[0])))
        }
    }

    /// True if the table knows a three-letter code, so that it is a language, not a region.
    static func knows(_ language: String) -> Bool { aliases[language] != nil || nearest[language] != nil }

    /// True for Chinese and for the languages that CLDR counts as Chinese.
    static func isChinese(_ language: String) -> Bool {
        language == "zh" || nearest[language]?.contains { $0.key == "zh-Hant" } == true
    }

    struct Match: Sendable {
        /// The script in which the person reads the language.
        let script: String

        let key: String
    }

    /// Maps each further word of a line to the line's first word.
    private static func dictionary(_ text: String) -> [String: String] {
        rows(text).reduce(into: [:]) { table, row in
            for word in row.dropFirst() { table[String(word)] = String(row[0]) }
        }
    }

    private static func rows(_ text: String) -> [[Substring]] {
        text.split(separator: "\n").map { $0.split(separator: " ") }
    }

    /// Each line has a text's key, a script, and the languages whose readers in that script understand the text.
    ///
    /// Within a line the closest languages are first. A language on several lines prefers the earlier line.
    private static let nearestRows = """
        zh-Hant Hant yue
        pa Guru pa
        ru Latn az tk uz
        ru Armn hy
        zh-Hans Latn za zh
        zh-Hans Tibt bo
        hr Latn bs sr
        bs Latn hr sr
        ar Arab aao abh abv acm acq acw acx acy adf aeb aec afb ajp apc apd arq ars ary arz auz avl ayh ayl ayn ayp
        ar Arab bbz pga shu ssh ckb
        cs Latn sk
        da Latn nb fo
        de Latn gsw lb rm
        es Latn ay ca eu gl gn qu
        et Latn vro
        fil Latn ceb
        fr Latn br co crs ht oc kg ln lua mg rw wo
        hi Deva mai gu mr sa
        id Latn jv su ms
        it Latn la
        lv Latn ltg
        mg Latn bhr bmm bzc msh skg tdx tkg txy xmv xmw
        mn Cyrl mvf
        ms Latn bjn btj bve bvu coa dup hji id jak jax kvb kvr kxd lce lcf liw max meo mfa mfb min mqg msi mui orn
        ms Latn ors pel pse tmw urk vkk vkt xmm zlm zmi
        nb Latn da nn
        ne Deva dty
        nl Latn af fy
        qu Latn qub qud quf qug quh quk qul qup qur qus quw qux quy qva qvc qve qvh qvi qvj qvl qvm qvn qvo qvp qvs
        qu Latn qvw qvz qwa qwc qwh qws qxa qxc qxh qxl qxn qxo qxp qxr qxt qxu qxw
        ru Cyrl be uk ab az hy kk ky mn tg tk tt uz
        sk Latn cs
        sq Latn aae aat aln
        sr Cyrl bs hr
        tr Latn ku
        uz Latn uzs
        ur Arab bal pa
        zh-Hans Hans cdo cjy cpx czh czo gan hak hsn lzh mnp nan wuu yue bo za
        zh-Hant Hant cdo cjy cpx czh czo gan hak hsn lzh mnp nan wuu bo za
        """

    /// Each line has a script, and the languages and regions that use it.
    private static let scriptRows = """
        Arab az-IQ az-IR kk-AF kk-CN kk-IR kk-MN ky-CN ms-CC pa-PK tg-PK uz-AF
        Cyrl az-RU uz-CN
        Latn ky-TR sr-ME sr-RO sr-RU sr-TR
        Mong mn-CN
        Hans yue-CN
        Hant zh-AU zh-BN zh-GB zh-GF zh-HK zh-ID zh-MO zh-PA zh-PF zh-PH zh-SR zh-TH zh-TW zh-US zh-VN
        """

    /// Each line has a tag, and the codes that are aliases of it.
    private static let aliasRows = """
        aa aar
        ab abk
        ae ave
        af afr
        ak aka fat tw twi
        am amh
        an arg
        ar ara arb
        as asm
        av ava
        ay aym ayr
        az aze azj
        ba bak
        bal bcc
        be bel
        bg bul
        bh bih
        bi bis
        bm bam
        bn ben
        bo bod tib
        br bre
        bs bos
        bzc bjq
        ca cat
        ce che
        ch cha
        co cos
        cr cre cwd
        cs ces cze
        cu chu
        cv chv
        cy cym wel
        da dan
        de deu ger
        dv div
        dz adp dzo
        ee ewe
        el ell gre
        en eng
        eo epo
        es spa
        et ekk est
        eu baq eus
        fa fas per pes
        fa-AF drw prs tnf
        ff fuc ful
        fi fin
        fil tgl tl
        fj fij
        fo fao
        fr fra fre
        fy fry
        ga gle
        gd gla
        gl glg
        gn grn gug
        gu guj
        gv glv
        ha hau
        he heb iw
        hi hin
        ho hmo
        hr hrv scr
        ht hat
        hu hun
        hy arm hye
        hz her
        ia ina
        id in ind
        ie ile
        ig ibo
        ii iii
        ik esk ipk
        io ido
        is ice isl
        it ita
        iu ike iku
        ja jpn
        jv jav jw
        ka geo kat
        kg kng kon
        ki kik
        kj kua
        kk kaz
        kl kal
        kln spy
        km khm
        kn kan
        ko kor
        kok knn
        kpe xpe
        kr kau knc
        ks kas
        ku kmr kur
        kv kom kpv
        kw cor
        ky kir
        la lat
        lb ltz
        lg lug
        li lim
        ln lin
        lo lao
        lt lit
        lu lub
        luy bxk
        lv lav lvs
        mg mlg plt
        mh mah
        mi mao mri
        mk mac mkd
        ml mal
        mn drh khk mon
        mr mar
        ms may msa zsm
        mt mlt
        my bur mya
        na nau
        nb no nob nor
        nd nde
        ne nep npi
        ng ndo
        nl dut nld
        nn nno
        nr nbl
        nv nav
        ny nya
        oc oci
        oj ojg oji
        om gaz orm
        or ori ory
        os oss
        pa pan
        pi pli
        pl pol
        ps pbu pus
        pt por
        qu que quz
        quh cqu
        rm roh
        rn run
        ro mo mol ron rum
        ru rus
        rw kin
        sa san
        sc src srd
        sd snd
        se sme
        sg sag
        si sin
        sk slk slo
        sl slv
        sm smo
        sn sna
        so som
        sq alb als sqi
        sr scc srp
        sr-Latn hbs sh
        sr-Latn-ME cnr
        ss ssw
        st sot
        su sun
        sv swe
        sw swa swh
        sw-CD swc
        syr cld
        ta tam
        te tel
        tg tgk
        th tha
        ti tir
        tk tuk
        tn tsn
        to ton
        tr tur
        ts tso
        tt tat
        ty tah
        ug uig
        uk ukr
        ur urd
        uz uzb uzn
        ve ven
        vi vie
        vo vol
        wa wln
        wo wol
        xh xho
        yi ji ydd yid
        yo yor
        za zha zyb
        zh chi cmn zho
        zu zul
        """
}
