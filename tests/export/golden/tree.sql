CASE
  WHEN "age" > 0.30000000000000004e0 OR "age" IS NULL THEN
    CASE
      WHEN "drug's kind" IN ('aspirin', 'l''eau') THEN 10
      WHEN "site" NOT IN ('Köln', '東京') THEN
        CASE
          WHEN "dose" IS NULL THEN 9
          ELSE 8
        END
      ELSE 6
    END
  WHEN """smoker""" = TRUE OR """smoker""" IS NULL THEN 3
  ELSE 2
END
